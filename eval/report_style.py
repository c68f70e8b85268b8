"""The look of a report page: light and dark, no fonts or images from elsewhere, fit for print."""

STYLE = """
:root { color-scheme: light dark;
  --paper: #f7f7f5; --card: #ffffff; --ink: #1c2024; --soft: #5b6470; --line: #dfe2e6;
  --track: #eceef1; --grid: #ffffff; --alert: #9a3412; --alert-paper: #fff4ed;
  --s0: #c2541b; --s1: #64748b; --s2: #0f766e; --s3: #6d4bc2; --s4: #2563a8; --s5: #8a6d0b;
  --keep: #94a3b8; --generalize: #0f766e; --surrogate: #6d4bc2; --suppress: #1f2937; }
@media (prefers-color-scheme: dark) { :root {
  --paper: #14171a; --card: #1c2125; --ink: #e8eaed; --soft: #a0a9b4; --line: #31383f;
  --track: #2a3037; --grid: #1c2125; --alert: #fdba8c; --alert-paper: #3a2418;
  --s0: #f08a4b; --s1: #94a3b8; --s2: #2cb5a5; --s3: #a78bfa; --s4: #6aa8e8; --s5: #d9b73c;
  --keep: #64748b; --generalize: #2cb5a5; --surrogate: #a78bfa; --suppress: #d5dae0; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); line-height: 1.5;
  font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif; }
main { max-width: 1120px; margin: 0 auto; padding: 2.5rem 1.25rem 4rem; }
h1 { font-size: 2rem; line-height: 1.15; letter-spacing: -0.02em; margin: 0 0 0.4rem; }
h2 { font-size: 1.15rem; margin: 2.75rem 0 0.25rem; letter-spacing: -0.01em; }
p { margin: 0.25rem 0 1rem; max-width: 72ch; }
.lead, .sub { color: var(--soft); }
.chips { display: flex; flex-wrap: wrap; gap: 0.4rem; padding: 0; margin: 1rem 0 0; list-style: none; }
.chips li { border: 1px solid var(--line); border-radius: 999px; padding: 0.1rem 0.7rem;
  font-size: 0.82rem; color: var(--soft); background: var(--card); }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(210px, 1fr)); gap: 1rem;
  margin: 1.75rem 0 0; }
.card, .chart, .panel { background: var(--card); border: 1px solid var(--line); border-radius: 12px; }
.card { padding: 1rem 1.15rem; border-top: 4px solid var(--tone); }
.card h3 { margin: 0; font-size: 0.95rem; overflow-wrap: anywhere; }
.card b { display: block; font-size: 2.1rem; line-height: 1.2; letter-spacing: -0.03em;
  font-variant-numeric: tabular-nums; }
.card b.none { font-size: 1.3rem; letter-spacing: 0; padding: 0.45rem 0; }
.card span { display: block; color: var(--soft); font-size: 0.84rem; }
.tone-0 { --tone: var(--s0); } .tone-1 { --tone: var(--s1); } .tone-2 { --tone: var(--s2); }
.tone-3 { --tone: var(--s3); } .tone-4 { --tone: var(--s4); } .tone-5 { --tone: var(--s5); }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(480px, 100%), 1fr));
  gap: 1rem; margin-top: 0.75rem; }
.chart { margin: 0; padding: 1rem 1.15rem; min-width: 0; }
.chart figcaption { margin-bottom: 0.5rem; }
.chart figcaption span { display: block; color: var(--soft); font-size: 0.84rem; }
.bar { display: grid; grid-template-columns: 6rem minmax(60px, 1fr) 9.5rem; column-gap: 0.75rem;
  align-items: center; padding: 0.15rem 0; }
.bar svg { width: 100%; height: 22px; display: block; }
.who { font-size: 0.88rem; overflow-wrap: anywhere; }
.figure { font-size: 0.88rem; font-variant-numeric: tabular-nums; font-weight: 600;
  white-space: nowrap; }
.figure small { font-weight: 400; color: var(--soft); margin-left: 0.2rem; }
.note { grid-column: 2 / -1; font-size: 0.74rem; color: var(--soft); margin-top: -0.15rem; }
.track { fill: var(--track); } .grid { stroke: var(--grid); stroke-width: 1; }
.whisker { stroke: var(--ink); stroke-width: 1.5; fill: none; vector-effect: non-scaling-stroke; }
.series-0 { fill: var(--s0); } .series-1 { fill: var(--s1); } .series-2 { fill: var(--s2); }
.series-3 { fill: var(--s3); } .series-4 { fill: var(--s4); } .series-5 { fill: var(--s5); }
.stack { width: 100%; height: 16px; display: block; border-radius: 4px; min-width: 140px; }
.action-keep { fill: var(--keep); } .action-generalize { fill: var(--generalize); }
.action-surrogate { fill: var(--surrogate); } .action-suppress { fill: var(--suppress); }
.swatch { display: inline-block; width: 0.7rem; height: 0.7rem; border-radius: 2px;
  margin-right: 0.35rem; vertical-align: baseline; }
.panel { padding: 0.5rem 1.15rem 1rem; margin-top: 0.75rem; overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 0.86rem; }
caption { text-align: left; color: var(--soft); padding: 0.5rem 0; font-size: 0.84rem; }
th, td { text-align: right; padding: 0.4rem 0.6rem; border-bottom: 1px solid var(--line);
  font-variant-numeric: tabular-nums; vertical-align: top; }
th:first-child, td:first-child { text-align: left; padding-left: 0; }
thead th { color: var(--soft); font-weight: 600; }
tbody th { font-weight: 500; }
td small { display: block; color: var(--soft); white-space: nowrap; }
tbody tr:last-child > * { border-bottom: 0; }
details { margin-top: 0.75rem; } summary { cursor: pointer; color: var(--soft); }
.alert { background: var(--alert-paper); color: var(--alert); border: 1px solid currentColor;
  border-radius: 12px; padding: 0.8rem 1.15rem; margin: 1.5rem 0 0; max-width: none; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.35rem 1.25rem; margin: 0.5rem 0 0;
  font-size: 0.88rem; }
dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
footer { margin-top: 3rem; color: var(--soft); font-size: 0.82rem; }
@media (max-width: 560px) {
  .bar { grid-template-columns: 1fr auto; } .bar svg { grid-column: 1 / -1; grid-row: 2; }
  .note { grid-column: 1 / -1; margin-top: 0; }
  dl { grid-template-columns: 1fr; } dt { margin-top: 0.4rem; } }
@media print { body { background: #fff; } .card, .chart, .panel { break-inside: avoid; } }
"""

"""What the benchmark's page adds to the look of a report page."""

PAGE_STYLE = """
.cards { grid-template-columns: repeat(auto-fit, minmax(230px, 1fr)); }
.missing { margin: 0.5rem 0 0; color: var(--soft); }
.panel colgroup + colgroup { border-left: 1px solid var(--line); }
.over th { color: var(--soft); font-weight: 600; text-align: center; }
.over > * { border-bottom: 0; padding-bottom: 0; }
tbody th { min-width: 6.5rem; max-width: 13rem; } tbody th:has(small) { min-width: 8.5rem; }
.over + tr th { white-space: nowrap; }
th small { display: block; color: var(--soft); font-weight: 400; }
.published { color: var(--soft); } .published small + small { margin-top: 0.1rem; }
.nothing { color: var(--soft); font-size: 0.8rem; }
caption span { display: inline-block; position: sticky; left: 0; overflow-wrap: anywhere;
  max-width: min(calc(100vw - 6rem), 62rem); }
.leader { stroke: var(--soft); stroke-width: 1; fill: none; opacity: 0.7; }
.panel th:first-child { position: sticky; left: 0; background: var(--card) padding-box;
  z-index: 1;
  box-shadow: -1.2rem 0 0 var(--card); }
.charts.one { grid-template-columns: 1fr; }
.panel td, .panel th { padding-left: 0.4rem; padding-right: 0.4rem; }
.panel th:first-child { padding-left: 0; }
.charts + .panel, .panel + details, .charts + details { margin-top: 1rem; }
.wide { overflow-x: auto; } .wide svg { min-width: 720px; }
.plot svg { display: block; width: 100%; height: auto; }
.plot text { font-size: 13px; fill: var(--soft); font-variant-numeric: tabular-nums; }
.plot .name { fill: var(--ink); font-weight: 600; } .plot .cell { fill: var(--ink); font-weight: 600; }
.plot .name, .plot .strength { paint-order: stroke; stroke: var(--card); stroke-width: 3px;
  stroke-linejoin: round; }
.plot .strength { font-size: 11px; }
.rule { stroke: var(--line); stroke-width: 1; } .axis { stroke: var(--soft); stroke-width: 1; }
.curve { fill: none; stroke-width: 1.75; opacity: 0.8; } .mark { stroke-width: 1.75; }
.ink-0 { stroke: var(--s0); } .ink-1 { stroke: var(--s1); } .ink-2 { stroke: var(--s2); }
.ink-3 { stroke: var(--s3); } .ink-4 { stroke: var(--s4); } .ink-5 { stroke: var(--s5); }
.hollow { fill: var(--card); } .heat { fill: var(--s2); }
.striped { fill: var(--card); stroke: var(--s3); stroke-width: 1.5; } .solid { fill: var(--s2); }
.legend { display: flex; flex-wrap: wrap; gap: 0.3rem 1.1rem; margin: 0.6rem 0 0; padding: 0;
  list-style: none; font-size: 0.84rem; }
.legend li { display: flex; align-items: center; gap: 0.4rem; overflow-wrap: anywhere; }
.plot .legend svg { width: 34px; min-width: 34px; height: 14px; flex: none; }
"""

// Texts cut into marked and plain pieces. Offsets count code points, as the server's do.

/**
 * The lines of a text, each a list of pieces {text, mark}; mark is the number of the span, null for plain text.
 * Only line ends outside spans end a line, so that both sides of a sanitized text have the same lines.
 */
export function linesOf(text, spans) {
  const points = Array.from(text);
  const lines = [[]];
  const plain = (start, end) => {
    const [first, ...rest] = points.slice(start, end).join("").split("\n");
    if (first) lines.at(-1).push({ text: first, mark: null });
    for (const line of rest) lines.push(line ? [{ text: line, mark: null }] : []);
  };
  let done = 0;
  const order = spans.map((span, mark) => ({ start: span[0], end: span[1], mark }));
  order.sort((one, other) => one.start - other.start || one.end - other.end);
  for (const { start, end, mark } of order) {
    if (start < done) continue; // a place that another holds already
    plain(done, start);
    lines.at(-1).push({ text: points.slice(start, end).join(""), mark });
    done = end;
  }
  plain(done, points.length);
  return lines;
}

/** Both sides of a sanitized text in lines that stand beside each other; in one line if they do not match. */
export function pairedLines(before, spans, after, places) {
  const both = [linesOf(before, spans), linesOf(after, places)];
  if (both[0].length === both[1].length) return both;
  return both.map((lines) => [lines.flatMap((line, n) => (n ? [{ text: "\n", mark: null }, ...line] : line))]);
}

/**
 * The text before the first mark, those between marks that follow each other, and the rest; null if one is missing. Each
 * mark is found at its first place, so that the line, which a hook may have printed, is read only once.
 */
export function textsBetween(line: string, ...marks: readonly string[]): string[] | null {
  const texts: string[] = [];
  let from = 0;
  for (const mark of marks) {
    const at = line.indexOf(mark, from);
    if (at === -1) return null;
    texts.push(line.slice(from, at));
    from = at + mark.length;
  }
  return [...texts, line.slice(from)];
}

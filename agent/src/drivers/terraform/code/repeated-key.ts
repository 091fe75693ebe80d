/** The value of this key is a comment. */
const comment = '//';

function* objectsOf(value: unknown): Generator<object> {
  const left = [value];
  while (left.length > 0) {
    const each = left.pop();
    if (typeof each !== 'object' || each === null) continue;
    if (!Array.isArray(each)) yield each;
    for (const inner of Object.values(each)) left.push(inner);
  }
}

/**
 * A key that an object of JSON has more than once. The tools read each of its values as a block; `JSON.parse` keeps only
 * the last one.
 * @param text valid JSON
 * @param value what `JSON.parse` made of it
 */
export function repeatedKey(text: string, value: unknown): string | undefined {
  const counts = new Map<string, number>();
  const add = (key: string, count: number) => counts.set(key, (counts.get(key) ?? 0) + count);
  for (const [, key = '', colon] of text.matchAll(/("[^"\\]*(?:\\.[^"\\]*)*")([ \t\r\n]*:)?/g))
    if (colon !== undefined) add(JSON.parse(key) as string, 1);
  for (const object of objectsOf(value)) for (const key of Object.keys(object)) add(key, -1);
  return [...counts].find(([key, count]) => count > 0 && key !== comment)?.[0];
}

/** Reads a message of an agent. What a tool said can hold a NUL character, which the database stores nowhere: a sign takes its place. */

const sign = '\uFFFD';

function withoutNul(_key: string, value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll('\0', sign);
  const isTree = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (!isTree || !Object.keys(value).some((name) => name.includes('\0'))) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name.replaceAll('\0', sign), inner]));
}

/** @throws SyntaxError for a text that is no JSON */
export function parseMessage(text: string): unknown {
  return text.includes('\\u0000') ? JSON.parse(text, withoutNul) : JSON.parse(text);
}

import { isRecord } from '#contract/schema/is-record.ts';

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sorted(value[key])]),
  );
}

/** The same text for the same content, whatever the order of keys. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(sorted(value));
}

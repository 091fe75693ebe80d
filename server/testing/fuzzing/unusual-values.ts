/** Values that fit a schema more or less. */
import fc from 'fast-check';

export interface JsonSchema {
  readonly type?: string | string[];
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly items?: JsonSchema;
}

export const unusualText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.constantFrom(
    '',
    ' ',
    '\ud800',
    'a\udc00b',
    '\u0000',
    '\u202e',
    'x'.repeat(3000),
    "'; drop table environment --",
    '${a}',
    '%',
    '\\',
    '../..',
    '__proto__',
    'ü€😀',
    '1e400',
    '-1',
    '2026-01-01T00:00:00Z',
  ),
);

/** Values that fit a schema more or less. */
export function valueOf(schema: JsonSchema): fc.Arbitrary<unknown> {
  if (schema.enum) return fc.constantFrom(...schema.enum);
  const types = [schema.type ?? 'object'].flat();
  const one = (type: string): fc.Arbitrary<unknown> => {
    if (type === 'string') return unusualText;
    if (type === 'integer' || type === 'number') return fc.oneof(fc.integer(), fc.double());
    if (type === 'boolean') return fc.boolean();
    if (type === 'array') return fc.array(valueOf(schema.items ?? { type: 'string' }), { maxLength: 3 });
    if (type === 'null') return fc.constant(null);
    const fields = Object.entries(schema.properties ?? {}).map(
      ([name, field]) => [name, valueOf(field)] as const,
    );
    return fields.length > 0
      ? fc.record(Object.fromEntries(fields), { requiredKeys: [] })
      : fc.dictionary(unusualText, unusualText, { maxKeys: 2 });
  };
  return fc.oneof(...types.map(one));
}

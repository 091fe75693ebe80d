/** Options that are stored and have no effect yet: callers who turn them on get a warning. */
import { Type, type Static, type TSchema, type TUnsafe } from 'typebox';

export { noEffects } from './no-effect-words.ts';

const mark = 'x-no-effect';
const marksValues = 'x-no-effect-values';

type Marked = TSchema & { readonly [mark]?: string; readonly [marksValues]?: readonly string[] };

/**
 * Marks a field of a request whose option nothing reads yet, or a request that is a list of such.
 * @param consequence what will not happen, as in `pushes do not start deployments`; ASCII, as a header is
 */
export function withoutEffect<S extends TSchema>(schema: S, consequence: string): TUnsafe<Static<S>> {
  const description = `Stored, but has no effect yet: ${consequence}`;
  return Type.Unsafe<Static<S>>({ ...schema, description, [mark]: consequence });
}

/**
 * Marks a field of a request of which nothing acts on some values yet.
 * @param values those that are stored only
 * @param consequence as for `withoutEffect`
 */
export function withoutEffectOf<S extends TSchema>(
  schema: S,
  values: readonly Static<S>[],
  consequence: string,
): TUnsafe<Static<S>> {
  const { description } = schema as { description?: string };
  const note = `${values.join(' and ')} are stored, but have no effect yet: ${consequence}`;
  return Type.Unsafe<Static<S>>({
    ...schema,
    description: description === undefined ? note : `${description}. ${note}`,
    [mark]: consequence,
    [marksValues]: values,
  });
}

function propertiesOf(schema: TSchema): [string, Marked][] {
  return Object.entries((schema as { properties?: Record<string, Marked> }).properties ?? {});
}

/** Whether a request or any field of it is marked, also inside of `deployRequest`. */
export function hasMarks(schema: TSchema): boolean {
  if ((schema as Marked)[mark] !== undefined) return true;
  return propertiesOf(schema).some(([, field]) => field[mark] !== undefined || hasMarks(field));
}

/** Whether a value turns an option on: `false` and DISABLED are what happens anyway. */
function isOn(value: unknown, { [marksValues]: values }: Marked): boolean {
  if (values !== undefined) return values.includes(value as string);
  return value !== undefined && value !== null && value !== false && value !== '' && value !== 'DISABLED';
}

/**
 * @param body a request that has passed the schema
 * @returns a sentence for each option that is turned on and has no effect
 */
export function warningsOf(schema: TSchema, body: unknown): string[] {
  if (typeof body !== 'object' || body === null) return [];
  if (Array.isArray(body)) {
    const consequence = (schema as Marked)[mark];
    const isStored = consequence !== undefined && body.length > 0;
    return isStored ? [`This is stored but has no effect yet: ${consequence}.`] : [];
  }
  const values = body as Readonly<Record<string, unknown>>;
  const own = propertiesOf(schema).flatMap(([name, field]) => {
    if (field[mark] === undefined || !isOn(values[name], field)) return warningsOf(field, values[name]);
    const shown = typeof values[name] === 'string' ? `${name} ${values[name]}` : name;
    return [`${shown} is stored but has no effect yet: ${field[mark]}.`];
  });
  return [...new Set(own)];
}

/** Options that are stored and have no effect yet: callers who turn them on get a warning. */
import { type Static, type TSchema, type TUnsafe, Type } from 'typebox';

export { noEffects } from './no-effect-words.ts';

const mark = 'x-no-effect';
const marksValues = 'x-no-effect-values';
const marksOff = 'x-no-effect-off';
const ignoredMark = 'x-ignored';

type Marked = TSchema & {
  readonly [mark]?: string;
  readonly [marksValues]?: readonly string[];
  readonly [marksOff]?: string;
  readonly [ignoredMark]?: string;
};

/**
 * Marks a field of a request whose option nothing reads yet, or a request of which nothing has an effect.
 * @param consequence what will not happen, as in `pushes do not start deployments`; ASCII, as a header is
 * @param off pattern of texts that are what happens anyway
 */
export function withoutEffect<S extends TSchema>(
  schema: S,
  consequence: string,
  off?: string,
): TUnsafe<Static<S>> {
  const description = `Stored, but has no effect yet: ${consequence}`;
  const isOff = off === undefined ? {} : { [marksOff]: off };
  return Type.Unsafe<Static<S>>({ ...schema, description, [mark]: consequence, ...isOff });
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
  const stored = values.length === 1 ? 'is stored, but has' : 'are stored, but have';
  const note = `${values.join(' and ')} ${stored} no effect yet: ${consequence}`;
  return Type.Unsafe<Static<S>>({
    ...schema,
    description: description === undefined ? note : `${description}. ${note}`,
    [mark]: consequence,
    [marksValues]: values,
  });
}

/**
 * Marks a field that requests may contain, because clients send back what they have read, and that is not stored.
 * @param reason why, without its end; ASCII, as a header is
 */
export function ignoredInRequests<S extends TSchema>(schema: S, reason: string): TUnsafe<Static<S>> {
  const description = `Ignored in requests: ${reason}`;
  return Type.Unsafe<Static<S>>({ ...schema, description, [ignoredMark]: reason });
}

function propertiesOf(schema: TSchema): [string, Marked][] {
  return Object.entries((schema as { properties?: Record<string, Marked> }).properties ?? {});
}

/** Whether a request or any field of it is marked, also inside of `deployRequest`. */
export function hasMarks(schema: TSchema): boolean {
  const { [mark]: stored, [ignoredMark]: ignored } = schema as Marked;
  return (stored ?? ignored) !== undefined || propertiesOf(schema).some(([, field]) => hasMarks(field));
}

/** Whether a value turns an option on: `false` and DISABLED are what happens anyway. */
function isOn(value: unknown, { [marksValues]: values, [marksOff]: off }: Marked): boolean {
  if (values !== undefined) return values.includes(value as string);
  if (off !== undefined && typeof value === 'string' && new RegExp(off).test(value)) return false;
  return value !== undefined && value !== null && value !== false && value !== '' && value !== 'DISABLED';
}

function warningsOfField(name: string, field: Marked, value: unknown): string[] {
  const { [mark]: consequence, [ignoredMark]: reason } = field;
  const isSet = isOn(value, field);
  if (reason !== undefined && isSet) return [`${name} is ignored: ${reason}.`];
  if (consequence === undefined || !isSet) return warningsOf(field, value);
  const shown = typeof value === 'string' ? `${name} ${value}` : name;
  return [`${shown} is stored but has no effect yet: ${consequence}.`];
}

/**
 * @param body a request that has passed the schema
 * @returns a sentence for each option that is turned on and has no effect
 */
export function warningsOf(schema: TSchema, body: unknown): string[] {
  if (typeof body !== 'object' || body === null) return [];
  const consequence = (schema as Marked)[mark];
  const isStored = consequence !== undefined && Object.keys(body).length > 0;
  const whole = isStored ? [`This is stored but has no effect yet: ${consequence}.`] : [];
  if (Array.isArray(body)) return whole;
  const values = body as Readonly<Record<string, unknown>>;
  const own = propertiesOf(schema).flatMap(([name, field]) => warningsOfField(name, field, values[name]));
  return [...new Set([...whole, ...own])];
}

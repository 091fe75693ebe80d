/** Building blocks of the contract's schemas. */
import {
  type Static,
  type TObject,
  type TOptional,
  type TProperties,
  type TSchema,
  type TUnsafe,
  Type,
} from 'typebox';
import { type NullableField, nullsOf } from './nulls.ts';

export const Text = Type.String();
export const Name = Type.String({ minLength: 1 });
/** Names: short enough for every index, visible, and safe to print. */
export const Title = Type.String({
  minLength: 1,
  maxLength: 255,
  pattern: '^\\P{Cc}*[^\\s\\p{Cc}]\\P{Cc}*$',
  description: 'Not blank, without control characters',
});
export const Flag = Type.Boolean();
export const Count = Type.Integer({ minimum: 0 });
/** Position at which a page of a list begins. */
export const offsetOf = (things: string) =>
  Type.Integer({
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    description: `Index of the first ${things}; default 0`,
  });
/** Text that people write about something: descriptions, comments, reasons. */
export const Prose = Type.String({ maxLength: 4000 });
/** In replies with milliseconds and Z. */
export const Instant = Type.String({ format: 'date-time' });

/** A body that is transferred unchanged. */
export const Bytes = (description: string) =>
  Type.Unsafe<Uint8Array | Blob>({ type: 'string', format: 'binary', description });

/** A JSON object without agreed fields. */
export const AnyObject = Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true });

type TypedSchema = TSchema & {
  type?: string | readonly string[];
  enum?: readonly unknown[];
  anyOf?: readonly unknown[];
};

/**
 * The same schema, null allowed. One schema with two types instead of a union of two, so that a wrong value
 * gets one message ("must be object,null") and not three.
 */
export function nullable<S extends TSchema>(schema: S): TUnsafe<Static<S> | null> {
  const { type, enum: values, anyOf, ...rest } = schema as TypedSchema;
  if (anyOf) return Type.Unsafe<Static<S> | null>({ ...rest, anyOf: [...anyOf, { type: 'null' }] });
  const types = [type].flat().filter((name): name is string => name !== undefined && name !== 'null');
  const choices = values ? { enum: [...values.filter((value) => value !== null), null] } : {};
  return Type.Unsafe<Static<S> | null>({ ...rest, type: [...types, 'null'], ...choices });
}

/**
 * An object of a request: a field that is not listed is refused by name.
 * @param title for shapes used in several places: documents then describe them once
 */
export function closed<P extends TProperties>(properties: P, title?: string): TObject<P> {
  return Type.Object(properties, { additionalProperties: false, ...(title ? { title } : {}) });
}

/** A map from names to values of one schema. */
export function mapOf<S extends TSchema>(
  schema: S,
  description?: string,
): TUnsafe<Record<string, Static<S>>> {
  return Type.Unsafe<Record<string, Static<S>>>({
    type: 'object',
    additionalProperties: schema,
    ...(description ? { description } : {}),
  });
}

/** An optional field of a request whose null means "not specified", as decided for arrays and objects. */
export function orNull<S extends TSchema>(schema: S): TOptional<TUnsafe<Static<S> | null>> {
  return Type.Optional(nullable(schema));
}

/** One element, or an array of at most `most`. */
export function oneOrMany<P extends TProperties>(
  element: TObject<P>,
  most: number,
): TUnsafe<Static<TObject<P>> | Static<TObject<P>>[]> {
  const { title: _, ...one } = element as TObject<P> & { title?: string };
  return Type.Unsafe<Static<TObject<P>> | Static<TObject<P>>[]>({
    ...one,
    type: ['object', 'array'],
    items: element,
    maxItems: most,
  });
}

/** Marks a query value that is a list: it may also be sent as several parameters of its name. */
export const listMark = 'x-comma-list';

/** A query value: several texts, separated by commas. */
export function commaList(description: string) {
  return Type.String({ minLength: 1, description: `${description}; separated by commas`, [listMark]: true });
}

/** A query value: words of a closed list, separated by commas. */
export function commaListOf(words: readonly string[], description: string) {
  const word = `(${words.join('|')})`;
  const pattern = `^${word}(,${word})*$`;
  return Type.String({ pattern, description: `${description}; separated by commas`, [listMark]: true });
}

type WithNulls<Name extends string, P extends TProperties> = {
  [K in keyof P]: K extends NullableField<Name>
    ? P[K] extends TOptional<infer S extends TSchema>
      ? TOptional<TUnsafe<Static<S> | null>>
      : TUnsafe<Static<P[K]> | null>
    : P[K];
};

/**
 * An object of a reply. Fields that the table of nulls lists under `name` may be null, and no others.
 * @param name the schema's name in `nulls.ts`, in the OpenAPI document and on the coverage page
 */
export function replyObject<const Name extends string, P extends TProperties>(
  name: Name,
  properties: P,
  description?: string,
): TObject<WithNulls<Name, P>> {
  const built: Record<string, TSchema> = { ...properties };
  for (const field of Object.keys(nullsOf(name))) {
    const plain = properties[field];
    if (!plain) throw new Error(`The table of nulls lists ${name}.${field}, which the schema does not have`);
    built[field] = Type.IsOptional(plain) ? Type.Optional(nullable(plain)) : nullable(plain);
  }
  return Type.Object(built, { title: name, ...(description ? { description } : {}) }) as unknown as TObject<
    WithNulls<Name, P>
  >;
}

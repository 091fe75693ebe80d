/**
 * Optional fields of a request that have no value. Clients send null or an empty text where they have nothing to
 * specify, and write back what they have read:
 *
 * - Null means that the field is absent, and in a change that it is cleared (`clearable`).
 * - An empty text means that the field is absent, also in a change: nothing that limits or protects is lost by it.
 * - Schemas that accept null, or an empty text, give it a meaning of their own.
 */
import type { Static, TSchema } from 'typebox';

const mark = 'x-cleared';

export interface FieldSchema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly FieldSchema[];
  readonly minLength?: number;
  readonly pattern?: string;
  readonly format?: string;
  readonly properties?: Readonly<Record<string, FieldSchema>>;
  readonly required?: readonly string[];
  readonly items?: FieldSchema;
  readonly additionalProperties?: boolean | FieldSchema;
  readonly [mark]?: unknown;
}

/**
 * Marks a field of a change that can be cleared.
 * @param value what null then means: the field's default
 */
export function clearable<S extends TSchema>(schema: S, value: Static<S>): S {
  return { ...schema, [mark]: value };
}

/** @returns what null in a change means; undefined for a field without a default */
export function clearedBy(schema: FieldSchema): unknown {
  return schema[mark];
}

function hasType({ type, anyOf = [] }: FieldSchema, name: string): boolean {
  return [type ?? []].flat().includes(name) || anyOf.some((each) => hasType(each, name));
}

/** Whether an empty text is a value of a field, such as a description that is removed. */
export function acceptsEmptyText(schema: FieldSchema): boolean {
  const { minLength = 0, pattern, format, enum: values, const: only } = schema;
  if (minLength > 0 || format !== undefined) return false;
  if (values !== undefined || only !== undefined) return (values ?? [only]).includes('');
  return pattern === undefined || new RegExp(pattern, 'u').test('');
}

/** Changes a value that was parsed from JSON, in place. */
type Resolve = (value: unknown) => void;

interface EmptyFieldRule {
  readonly dropsNull: boolean;
  readonly dropsEmptyText: boolean;
  /** Replacement of null; undefined: the field is absent. */
  readonly cleared: unknown;
  readonly inner: Resolve | null;
}

function fieldOf(schema: FieldSchema, isRequired: boolean): EmptyFieldRule {
  return {
    dropsNull: !isRequired && (schema[mark] !== undefined || !hasType(schema, 'null')),
    dropsEmptyText: !isRequired && hasType(schema, 'string') && !acceptsEmptyText(schema),
    cleared: schema[mark],
    inner: resolverOf(schema),
  };
}

function resolveFields(record: Record<string, unknown>, fields: ReadonlyMap<string, EmptyFieldRule>): void {
  for (const name of Object.keys(record)) {
    const field = fields.get(name);
    const value = record[name];
    if (!field) continue;
    if (value === '' && field.dropsEmptyText) delete record[name];
    else if (value !== null || !field.dropsNull) field.inner?.(value);
    else if (field.cleared === undefined) delete record[name];
    else record[name] = structuredClone(field.cleared);
  }
}

/** Null where nothing inside of a schema is optional. */
function resolverOf({ properties, required = [], items, additionalProperties }: FieldSchema): Resolve | null {
  const fields = new Map(
    Object.entries(properties ?? {}).map(([name, schema]) => [
      name,
      fieldOf(schema, required.includes(name)),
    ]),
  );
  const element = items ? resolverOf(items) : null;
  const others = typeof additionalProperties === 'object' ? resolverOf(additionalProperties) : null;
  if (fields.size === 0 && !element && !others) return null;
  return (value) => {
    if (Array.isArray(value)) for (const each of value) element?.(each);
    else if (typeof value === 'object' && value !== null) {
      resolveFields(value as Record<string, unknown>, fields);
      if (others) for (const each of Object.values(value)) others(each);
    }
  };
}

/**
 * @param schema of the body of an operation
 * @returns what resolves the fields without a value of a body that was parsed from JSON, in place
 */
export function emptyFieldsOf(schema: TSchema): (body: unknown) => void {
  return resolverOf(schema as FieldSchema) ?? (() => {});
}

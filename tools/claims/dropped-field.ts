/** Removes a field that a claim names from requests and replies of an operation. */
import { type Covered, shapeName } from '#contract/documents/coverage.ts';
import { isRecord } from '#contract/schema/is-record.ts';
import type { Operation } from '#contract/schema/operation.ts';

/** A subject and one of its fields, as a test has named them in `covers`. */
type ClaimedField = Pick<Covered, 'subject' | 'field'>;

interface ReadSchema {
  readonly title?: string;
  readonly properties?: Readonly<Record<string, ReadSchema>>;
  readonly items?: ReadSchema;
  readonly anyOf?: readonly ReadSchema[];
  readonly additionalProperties?: boolean | ReadSchema;
}

const stepsOf = (path: string) => path.split('.').map((step) => step.replace('[]', ''));

function removeAt(value: unknown, [step = '', ...rest]: readonly string[]): void {
  if (Array.isArray(value)) for (const element of value) removeAt(element, [step, ...rest]);
  else if (isRecord(value) && rest.length === 0) delete value[step];
  else if (isRecord(value)) removeAt(value[step], rest);
}

/** Calls back for each object in a value that its schema titles so. */
function eachOf(title: string, schema: ReadSchema, value: unknown, found: (value: unknown) => void): void {
  const inside = (inner: ReadSchema, each: unknown) => eachOf(title, inner, each, found);
  if (schema.anyOf) for (const form of schema.anyOf) inside(form, value);
  if (Array.isArray(value)) {
    if (schema.items) for (const element of value) inside(schema.items, element);
  } else if (isRecord(value)) {
    for (const [name, each] of Object.entries(value)) {
      const inner = schema.properties?.[name] ?? schema.additionalProperties;
      if (typeof inner === 'object') inside(inner, each);
    }
    // One element in place of a list has the schema of the list.
    if (shapeName(schema.title ?? schema.items?.title ?? '') === title) found(value);
  }
}

/**
 * Removes the field from a body or a reply of an operation.
 * @returns the value without it; the value itself may be changed
 */
export function dropFrom(
  part: 'body' | 'reply',
  operation: Operation,
  { subject, field }: ClaimedField,
  value: unknown,
): unknown {
  const schema = operation[part] as ReadSchema | undefined;
  if (!schema) return value;
  if (subject !== operation.name) eachOf(subject, schema, value, (each) => removeAt(each, stepsOf(field)));
  else if (field === part) return Array.isArray(value) ? [] : {};
  else if (field.startsWith(`${part}.`)) removeAt(value, stepsOf(field).slice(1));
  return value;
}

/** Removes a parameter from a query, in place. */
export function dropFromQuery(
  operation: Operation,
  { subject, field }: ClaimedField,
  query: Record<string, unknown>,
): void {
  if (subject !== operation.name || !field.startsWith('query.')) return;
  const name = field.slice('query.'.length);
  for (const each of [name, `${name}[]`]) delete query[each];
}

/**
 * Makes all fields of a schema optional, in place: tests hold replies against the contract, and one that fails because of
 * that alone checks nothing about the field.
 */
export function makeOptional(schema: object): void {
  // A field may have this name, too.
  if (Array.isArray((schema as { required?: unknown }).required)) Reflect.deleteProperty(schema, 'required');
  for (const inner of Object.values(schema))
    if (typeof inner === 'object' && inner !== null) makeOptional(inner);
}

/** Reads schemas for the pages that describe them: which fields a shape has, and what each takes. */
import type { TSchema } from 'typebox';
import type { FieldSchema } from '../schema/empty-fields.ts';
import type { Operation } from '../schema/operation.ts';
import { wordsFor } from './field-words.ts';

export interface JsonSchema extends FieldSchema {
  readonly title?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly additionalProperties?: boolean | JsonSchema;
  readonly minimum?: number;
  readonly maximum?: number;
}

/**
 * The plain JSON Schema of a schema value; fields without a description get that of their name.
 * @param owner name of the operation whose request it is
 */
export function jsonSchemaOf(schema: TSchema, owner?: string): JsonSchema {
  return described(JSON.parse(JSON.stringify(schema)) as JsonSchema, owner);
}

/** Things whose name differs from the part of a path that they have. */
const pathThings: Readonly<Record<string, string>> = {
  token: 'git token',
  blueprint: 'template',
  configuration: 'variable',
};

/** Entity that `{id}` in a path identifies: the segment before it, in the singular. */
export function thingAt(path: string): string {
  const segment = /\/([\w-]+?)s?\/\{id\}/.exec(path)?.[1] ?? '';
  return pathThings[segment] ?? segment.replaceAll('-', ' ');
}

/** The parameters in an operation's path; `id` says what it identifies. */
export function pathSchemaOf({ name, path, params }: Operation): JsonSchema | undefined {
  if (!params) return undefined;
  const schema = jsonSchemaOf(params, name);
  const { id, ...others } = schema.properties ?? {};
  if (!id) return schema;
  return {
    ...schema,
    properties: { id: { ...id, description: `Id of the ${thingAt(path)}` }, ...others },
  };
}

/**
 * Fields that are titled shapes stay as they are: their shape describes them, here and elsewhere alike.
 * @param owner of the fields of a schema without a title
 */
function described(schema: JsonSchema, owner?: string): JsonSchema {
  const { properties, items, anyOf, additionalProperties, title = owner } = schema;
  const field = ([name, inner]: [string, JsonSchema]): [string, JsonSchema] => {
    const words = inner.title ? undefined : wordsFor(title, name);
    const whole = described(inner, name);
    return [name, words && !whole.description ? { ...whole, description: words } : whole];
  };
  return {
    ...schema,
    ...(properties ? { properties: Object.fromEntries(Object.entries(properties).map(field)) } : {}),
    ...(items ? { items: described(items, title) } : {}),
    ...(anyOf ? { anyOf: anyOf.map((each) => described(each, title)) } : {}),
    ...(typeof additionalProperties === 'object'
      ? { additionalProperties: described(additionalProperties, title) }
      : {}),
  };
}

export interface DescribedField {
  /** From the shape down, as `gitUserData.prNumber` or `variables[]`. */
  readonly path: string;
  readonly schema: JsonSchema;
  readonly isRequired: boolean;
  /** Empty where neither the schema nor its name says what the field means. */
  readonly description: string;
}

export function typesOf(schema: JsonSchema): readonly string[] {
  return [schema.type ?? []].flat();
}

/** The shape that a field refers to by its title, directly or as an element or a map's value. */
export function referredShape(schema: JsonSchema): JsonSchema | undefined {
  const inner =
    schema.items ??
    (typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined);
  return schema.title ? schema : inner && referredShape(inner);
}

/**
 * The fields of a shape, those of nested objects with dotted paths; a field that is a titled shape is not
 * entered.
 * @param owner of the fields of a schema without a title
 */
export function fieldsOf(schema: JsonSchema, prefix = '', owner = schema.title): DescribedField[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const path = `${prefix}${name}`;
    const isRequired = schema.required?.includes(name) ?? false;
    const description = field.description ?? wordsFor(owner, name) ?? '';
    const own: DescribedField = { path, schema: field, isRequired, description };
    if (referredShape(field)) return [own];
    const inner = field.items?.properties
      ? fieldsOf(field.items, `${path}[].`, name)
      : fieldsOf(field, `${path}.`, name);
    return [own, ...inner];
  });
}

/** Every titled shape in some schemas, those inside of others included, by title. */
export function shapesIn(schemas: readonly JsonSchema[]): Map<string, JsonSchema> {
  const found = new Map<string, JsonSchema>();
  const visit = (schema: JsonSchema): void => {
    if (schema.title && !found.has(schema.title)) found.set(schema.title, schema);
    for (const inner of Object.values(schema.properties ?? {})) visit(inner);
    for (const inner of schema.anyOf ?? []) visit(inner);
    if (schema.items) visit(schema.items);
    if (typeof schema.additionalProperties === 'object') visit(schema.additionalProperties);
  };
  for (const schema of schemas) visit(schema);
  return found;
}

/**
 * Accepted values of a field, in words.
 * @param link how a reference to a titled shape is written
 */
export function typeText(schema: JsonSchema, link: (title: string) => string = (title) => title): string {
  const isNullable = typesOf(schema).includes('null');
  const text = plainTypeText(schema, link);
  return isNullable && text !== 'null' ? `${text} or null` : text;
}

function plainTypeText(schema: JsonSchema, link: (title: string) => string): string {
  if (schema.title) return link(schema.title);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum)
    return `one of ${schema.enum
      .filter((value) => value !== null)
      .map(String)
      .join(', ')}`;
  if (schema.anyOf) return schema.anyOf.map((each) => typeText(each, link)).join(' or ');
  const types = typesOf(schema).filter((type) => type !== 'null');
  if (types.length === 0) return typesOf(schema).length > 0 ? 'null' : 'any value';
  return types.map((type) => oneTypeText(type, schema, link)).join(' or ');
}

function oneTypeText(type: string, schema: JsonSchema, link: (title: string) => string): string {
  if (type === 'array') return `array of ${schema.items ? typeText(schema.items, link) : 'any value'}`;
  if (type === 'object' && typeof schema.additionalProperties === 'object')
    return `map of ${typeText(schema.additionalProperties, link)}`;
  if (type === 'object' && schema.items) return typeText(schema.items, link);
  if (schema.format === 'date-time') return 'date-time';
  return type;
}

/** Limits of a field's value, in words; empty where it has none. */
export function limitsText(schema: JsonSchema): string {
  const limits = [
    schema.minimum === undefined ? '' : `at least ${schema.minimum}`,
    schema.maximum === undefined ? '' : `at most ${schema.maximum}`,
    schema.minLength ? 'not empty' : '',
    schema.pattern && !schema.description ? `matches ${schema.pattern}` : '',
  ];
  return limits.filter((limit) => limit !== '').join(', ');
}

/** Bodies as clients may send them (see `empty-fields.ts`): the documents describe requests by these schemas. */
import { type JsonSchema, typesOf } from './describe-schema.ts';

function orNull(schema: JsonSchema): JsonSchema {
  const { const: only, enum: values = only === undefined ? undefined : [only], anyOf, ...rest } = schema;
  const types = typesOf(schema);
  if (types.includes('null')) return schema;
  if (anyOf) return { ...rest, anyOf: [...anyOf, { type: 'null' }] };
  if (types.length === 0) return schema;
  return { ...rest, type: [...types, 'null'], ...(values ? { enum: [...values, null] } : {}) };
}

/**
 * The schema with null in every optional field.
 * @param shared titles of shapes that replies have, too: those are never null inside
 */
export function sentSchema(schema: JsonSchema, shared: ReadonlySet<string>): JsonSchema {
  const { title, properties, required = [], items, additionalProperties } = schema;
  if (title && shared.has(title)) return schema;
  const field = ([name, inner]: [string, JsonSchema]): [string, JsonSchema] => {
    const sent = sentSchema(inner, shared);
    return [name, required.includes(name) ? sent : orNull(sent)];
  };
  return {
    ...schema,
    ...(properties ? { properties: Object.fromEntries(Object.entries(properties).map(field)) } : {}),
    ...(items ? { items: sentSchema(items, shared) } : {}),
    ...(typeof additionalProperties === 'object'
      ? { additionalProperties: sentSchema(additionalProperties, shared) }
      : {}),
  };
}

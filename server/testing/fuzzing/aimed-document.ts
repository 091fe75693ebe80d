/**
 * The OpenAPI document with ids of existing things among the values of a request: a fuzzer that only makes
 * ids up would see nothing but 404.
 */
import { openApiDocument } from '#contract/documents/openapi.ts';
import { operations } from '#contract/operations.ts';
import type { Operation } from '#contract/schema/operation.ts';
import { subjectsOf } from '../samples.ts';

interface Parameter {
  readonly name?: string;
  readonly in?: string;
  schema?: object;
}

interface Described {
  readonly operationId: string;
  readonly parameters: Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: BodySchema }>> };
}

interface BodySchema {
  readonly properties?: Record<string, object>;
}

/** The value, or one of ours. */
function orOneOf(schema: object, values: readonly string[]): object {
  return { anyOf: [{ enum: values }, schema] };
}

/**
 * @param ids of existing things, by entity
 * @returns the document, for operations that answer at once
 */
export function aimedDocument(ids: Readonly<Record<string, string>>): Record<string, unknown> {
  const document = structuredClone(openApiDocument({ version: '0' })) as {
    paths: Record<string, Record<string, Described>>;
  };
  for (const [path, methods] of Object.entries(document.paths))
    for (const [method, described] of Object.entries(methods)) {
      const operation: Operation = operations[described.operationId as keyof typeof operations];
      // Streams have no end.
      if (operation.replyKind === 'event-stream') delete document.paths[path]?.[method];
      else aim(described, operation, ids);
    }
  return document;
}

function aim(described: Described, operation: Operation, ids: Readonly<Record<string, string>>): void {
  const known = new Map<string, string[]>([
    ['organizationId', [ids['organization'] ?? '']],
    ['projectId', [ids['project'] ?? '']],
  ]);
  for (const { field, entity } of subjectsOf(operation)) known.set(field, [ids[entity] ?? '']);
  for (const parameter of described.parameters) {
    const values = known.get(parameter.name ?? '');
    if (values && parameter.schema) parameter.schema = orOneOf(parameter.schema, values);
  }
  const properties = described.requestBody?.content['application/json']?.schema.properties ?? {};
  for (const [name, schema] of Object.entries(properties)) {
    const values = known.get(name);
    if (values) properties[name] = orOneOf(schema, values);
  }
}

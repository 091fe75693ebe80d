/** The interface as an OpenAPI 3.1 document, from the same values that the server checks requests with. */
import { type JsonSchema, jsonSchemaOf, pathSchemaOf, typesOf } from './describe-schema.ts';
import { ErrorBody, errorStatus } from '../schema/errors.ts';
import type { Operation } from '../operation.ts';
import { hasMarks } from '../schema/no-effect.ts';
import { warningHeader } from '../schema/warning-header.ts';
import { operations } from '../operations.ts';
import { apiBase } from '../operation.ts';

type Json = Record<string, unknown>;

const bodyTypes = { json: 'application/json', binary: 'application/octet-stream' } as const;
const replyTypes = {
  json: 'application/json',
  'event-stream': 'text/event-stream',
  binary: 'application/octet-stream',
} as const;

/** Moves titled shapes into `components`, where each stands once. */
function publisher(components: Map<string, Json>) {
  const inner = (schema: JsonSchema): Json => ({
    ...schema,
    ...(schema.properties ? { properties: mapValues(schema.properties, publish) } : {}),
    ...(schema.items ? { items: publish(schema.items) } : {}),
    ...(schema.anyOf ? { anyOf: schema.anyOf.map(publish) } : {}),
    ...(typeof schema.additionalProperties === 'object'
      ? { additionalProperties: publish(schema.additionalProperties) }
      : {}),
  });
  function publish(schema: JsonSchema): Json {
    const { title, items } = schema;
    const isNullable = typesOf(schema).includes('null');
    if (!title && schema.properties && items) {
      return {
        anyOf: [
          publish(items),
          { type: 'array', items: publish(items) },
          ...(isNullable ? [{ type: 'null' }] : []),
        ],
      };
    }
    if (!title) return inner(schema);
    if (!components.has(title)) {
      components.set(title, {});
      components.set(title, inner(isNullable ? { ...schema, type: 'object' } : schema));
    }
    const reference = { $ref: `#/components/schemas/${title}` };
    return isNullable ? { anyOf: [reference, { type: 'null' }] } : reference;
  }
  return publish;
}

function mapValues<In, Out>(
  record: Readonly<Record<string, In>>,
  change: (value: In) => Out,
): Record<string, Out> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));
}

function parameters(place: 'path' | 'query', schema: JsonSchema | undefined): Json[] {
  return Object.entries(schema?.properties ?? {}).map(([name, { description, ...value }]) => ({
    name,
    in: place,
    required: place === 'path' || (schema?.required?.includes(name) ?? false),
    ...(description ? { description } : {}),
    schema: value,
  }));
}

/** The statuses that an operation can refuse with. */
function refusals(operation: Operation): number[] {
  const {
    bad_request,
    unauthorized,
    forbidden,
    not_found,
    conflict,
    payload_too_large,
    unsupported_media_type,
    unprocessable,
    rate_limited,
    internal,
    unavailable,
  } = errorStatus;
  const isRight = operation.needs !== 'nothing' && operation.needs !== 'signed-in';
  return [
    ...(operation.params || operation.query || operation.body ? [bad_request] : []),
    ...(operation.needs === 'nothing' ? [] : [unauthorized]),
    ...(isRight ? [forbidden] : []),
    ...(operation.params ? [not_found] : []),
    ...(operation.method === 'GET' ? [] : [conflict]),
    ...(operation.body ? [payload_too_large, unsupported_media_type, unprocessable] : []),
    rate_limited,
    internal,
    unavailable,
  ];
}

const warningHeaders = {
  [warningHeader]: {
    description:
      'One sentence per option of the request that is stored but has no effect yet; several sentences are ' +
      'separated by " | "',
    schema: { type: 'string' },
  },
};

function describeOperation(operation: Operation, publish: (schema: JsonSchema) => Json): Json {
  const shape = (schema: Operation['reply']) => publish(jsonSchemaOf(schema, operation.name));
  return {
    operationId: operation.name,
    tags: [operation.family],
    summary: operation.summary,
    ...(operation.description ? { description: operation.description } : {}),
    'x-right': operation.needs,
    ...(operation.needs === 'nothing' ? { security: [] } : {}),
    parameters: [
      ...parameters('path', pathSchemaOf(operation)),
      ...parameters('query', operation.query && jsonSchemaOf(operation.query, operation.name)),
    ],
    ...(operation.body
      ? {
          requestBody: {
            required: !operation.bodyOptional,
            content: { [bodyTypes[operation.bodyKind ?? 'json']]: { schema: shape(operation.body) } },
          },
        }
      : {}),
    responses: {
      200: {
        description: 'Success',
        ...(operation.body && hasMarks(operation.body) ? { headers: warningHeaders } : {}),
        content: { [replyTypes[operation.replyKind ?? 'json']]: { schema: shape(operation.reply) } },
      },
      ...Object.fromEntries(
        refusals(operation).map((status) => [status, { $ref: '#/components/responses/Refusal' }]),
      ),
    },
  };
}

/**
 * @param about `version` of the service that serves it
 * @returns the whole document, plain JSON
 */
export function openApiDocument({ version }: { version: string }): Json {
  const components = new Map<string, Json>();
  const publish = publisher(components);
  const paths: Record<string, Json> = {};
  const all: readonly Operation[] = Object.values(operations);
  for (const operation of all) {
    paths[operation.path] = {
      ...paths[operation.path],
      [operation.method.toLowerCase()]: describeOperation(operation, publish),
    };
  }
  const error = publish({ ...jsonSchemaOf(ErrorBody), title: 'Error' });
  return {
    openapi: '3.1.0',
    info: {
      title: 'Envarium',
      version,
      description: 'Manages infrastructure-as-code environments. Operations require the right in `x-right`.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: apiBase }],
    security: [{ basic: [] }],
    tags: [...new Set(all.map(({ family }) => family))].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: {
        basic: {
          type: 'http',
          scheme: 'basic',
          description: 'User name: the id of an API key. Password: its secret.',
        },
      },
      responses: {
        Refusal: {
          description: 'Refused; the message says what is wrong and what to do',
          content: { 'application/json': { schema: error } },
        },
      },
      schemas: Object.fromEntries([...components].sort(([one], [other]) => (one < other ? -1 : 1))),
    },
  };
}

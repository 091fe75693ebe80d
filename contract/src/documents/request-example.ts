/** Requests as commands for a shell, made from the operations. */
import { apiBase, type Operation } from '../schema/operation.ts';
import { type JsonSchema, jsonSchemaOf, thingAt, typesOf } from './describe-schema.ts';

/** Bodies where the required fields alone would be refused, or would do something unexpected. */
const bodies: Readonly<Record<string, object>> = {
  updateEnvironmentTtl: { type: 'HOURS', value: '12' },
  updateEnvironmentSchedule: { deploy: { cron: '0 6 * * 1-5' } },
  updateDriftSchedule: { enabled: true, cron: '0 6 * * *' },
};

/** A value that fits a required field; text is its name, to be replaced. */
function exampleValue(schema: JsonSchema, name: string): unknown {
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  if (schema.anyOf?.[0]) return exampleValue(schema.anyOf[0], name);
  const [type] = typesOf(schema);
  if (type === 'object') return exampleBody(schema);
  if (type === 'array') return [];
  if (type === 'boolean') return true;
  return type === 'string' ? `<${name}>` : (schema.minimum ?? 1);
}

function exampleBody({ required = [], properties = {} }: JsonSchema): Record<string, unknown> {
  return Object.fromEntries(required.map((name) => [name, exampleValue(properties[name] ?? {}, name)]));
}

/** `{id}` of an environment → `$ENVIRONMENT_ID`. */
function shellVariable(name: string, path: string): string {
  const words = name === 'id' ? `${thingAt(path)} id` : name.replace('Log', '').replaceAll(/([A-Z])/g, ' $1');
  return `$${words.replaceAll(/[ -]/g, '_').toUpperCase()}`;
}

/** A `curl` command with the required fields of an operation. */
export function requestExample(operation: Operation): string {
  const { name, method, path, query, body, bodyKind, bodyOptional, replyKind } = operation;
  const { required = [] } = query ? jsonSchemaOf(query, name) : {};
  const search = required.map((field) => `${field}=${shellVariable(field, path)}`).join('&');
  const place = path.replaceAll(/\{(\w+)\}/g, (_, field: string) => shellVariable(field, path));
  const hasJson = body && !bodyOptional && bodyKind !== 'binary';
  const json = bodies[name] ?? (hasJson ? exampleBody(jsonSchemaOf(body, name)) : null);
  return [
    `curl --fail-with-body${method === 'GET' ? '' : ` --request ${method}`}`,
    ...(operation.needs === 'nothing' ? [] : ['--user "$ENVARIUM_API_KEY:$ENVARIUM_API_SECRET"']),
    ...(replyKind === 'event-stream' ? ['--no-buffer'] : []),
    ...(replyKind === 'binary' ? ['--output "$FILE"'] : []),
    ...(bodyKind === 'binary'
      ? [`--header 'content-type: application/octet-stream' --data-binary "@$FILE"`]
      : []),
    ...(json ? [`--header 'content-type: application/json' --data '${JSON.stringify(json)}'`] : []),
    `"$ENVARIUM_API_URL${apiBase}${place}${search && `?${search}`}"`,
  ].join(' \\\n  ');
}

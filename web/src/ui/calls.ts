/** Calls of a page, as the person could make them without the page: with curl and with the command line. */
import type { OperationName } from '#contract/operations.ts';
import { routes } from '#contract/routes.ts';
import { baseUrl } from '../api/client.ts';
import type { QueryInput } from '../api/queries.ts';

interface CallValues {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
}

/** In single quotes for a POSIX shell. */
function quoted(text: string): string {
  return /^[\w@%+=:,./?&-]+$/.test(text) && !/[?&]/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** A call as a command with curl, which takes the key from the environment. */
export function asCurl<Name extends OperationName>(name: Name, input?: QueryInput<Name>): string {
  const { params = {}, query = {}, body } = (input ?? {}) as CallValues;
  const [method, path] = routes[name];
  const filled = path.replace(/\{(\w+)\}/g, (_, key: string) =>
    encodeURIComponent(params[key] ?? `{${key}}`),
  );
  const pairs = Object.entries(query).filter(([, value]) => value !== undefined);
  const search = new URLSearchParams(pairs.map(([key, value]) => [key, String(value)])).toString();
  const url = `${baseUrl}api${filled}${search === '' ? '' : `?${search}`}`;
  return [
    'curl --user "$ENVARIUM_API_KEY:$ENVARIUM_API_SECRET"',
    ...(method === 'GET' ? [] : [`--request ${method}`]),
    ...(body === undefined ? [] : [`--json ${quoted(JSON.stringify(body))}`]),
    quoted(url),
  ].join(' ');
}

/** Words of a command of the command line, quoted where necessary. */
export function asCommand(...words: readonly string[]): string {
  return ['envarium', ...words.map(quoted)].join(' ');
}

/** One thing in both forms. */
export interface ShownCall {
  readonly label: string;
  readonly curl: string;
  /** Absent: the command line does not have it. */
  readonly cli?: string;
}

/** @param words of the command line; none: it does not have it */
export function callOf<Name extends OperationName>(
  label: string,
  name: Name,
  input: QueryInput<Name> | undefined,
  words: readonly string[] = [],
): ShownCall {
  return { label, curl: asCurl(name, input), ...(words.length > 0 ? { cli: asCommand(...words) } : {}) };
}

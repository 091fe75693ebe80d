/**
 * The gate for git over https: it lets the git of a tool that loads modules read from hosts that require a
 * token, without ever seeing one. git is configured to use a server on the loopback instead of these hosts;
 * the server adds the token and passes on only what reads a repository. All other hosts are reached directly.
 */
import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { pipeline } from 'node:stream/promises';
import type { Job } from '#protocol/messages/job.ts';
import { startLoopbackServer } from '../network/loopback-server.ts';
import { networkReason } from '../network/network-reason.ts';

type ModuleSource = Pick<
  Job['source'],
  'repository' | 'credentials' | 'hostCredentials' | 'httpHosts' | 'areCredentialsForCheckoutOnly'
>;

export interface GitGate extends AsyncDisposable {
  /** Settings for git, keys and values; they contain no token. */
  readonly settings: readonly (readonly [string, string])[];
}

/** A host and the credentials that belong to it. */
interface Guarded {
  readonly origin: string;
  readonly username: string;
  readonly password: string;
}

const silenceMilliseconds = 60_000;
const passedHeaders = [
  'accept',
  'accept-encoding',
  'accept-language',
  'content-type',
  'content-encoding',
  'content-length',
  'git-protocol',
  'user-agent',
] as const;
const returnedHeaders = ['content-type', 'content-encoding', 'content-length', 'cache-control'] as const;

/** Opens the gate for one command; without tokens, git only gets its settings. */
export async function openGitGate(source: ModuleSource): Promise<GitGate> {
  const guarded = guardedHosts(source);
  const direct = directSettings(source);
  if (guarded.length === 0) return { settings: direct, async [Symbol.asyncDispose]() {} };
  const server = await startLoopbackServer((request, response, path) =>
    answer(guarded, request, response, path),
  );
  const { origin } = new URL(server.url);
  return {
    settings: [
      ...direct,
      // Whatever proxy the run uses: the agent is on this machine.
      [`http.${origin}/.proxy`, ''],
      ...guarded.flatMap((host, index) =>
        prefixesOf(host).map((prefix) => [`url.${server.url}/${index}/.insteadOf`, prefix] as const),
      ),
    ],
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** Each host once; the credentials of the repository precede the organization's. */
function guardedHosts(source: ModuleSource): Guarded[] {
  const url = URL.parse(source.repository);
  const isWeb = url?.protocol === 'https:' || url?.protocol === 'http:';
  const isOwn = isWeb && source.credentials !== undefined && source.areCredentialsForCheckoutOnly !== true;
  const own = isOwn && source.credentials ? [{ origin: url.origin, ...source.credentials }] : [];
  const others = (source.hostCredentials ?? []).filter(({ host }) => !isOwn || host !== url.host);
  const isPlain = (host: string) =>
    source.httpHosts.includes(host) || source.httpHosts.includes(host.replace(/:\d+$/, ''));
  return [
    ...own,
    ...others.map(({ host, ...credentials }) => ({ origin: `https://${host}`, ...credentials })),
    ...others
      .filter(({ host }) => isPlain(host))
      .map(({ host, ...credentials }) => ({ origin: `http://${host}`, ...credentials })),
  ];
}

/** A redirect could lead from a host that is allowed plain http to another one. */
function directSettings({ repository }: ModuleSource): (readonly [string, string])[] {
  const url = URL.parse(repository);
  return url?.protocol === 'http:' ? [[`http.${url.origin}/.followRedirects`, 'false']] : [];
}

/** The beginnings of addresses of a host, as sources of modules write them. */
function prefixesOf({ origin, username }: Guarded): string[] {
  const { protocol, host, port } = new URL(origin);
  const hosts = port === '' ? [host, `${host}:${protocol === 'https:' ? 443 : 80}`] : [host];
  const users = ['', ...new Set(['git@', `${encodeURIComponent(username)}@`])];
  return hosts.flatMap((one) => users.map((user) => `${protocol}//${user}${one}/`));
}

async function answer(
  guarded: readonly Guarded[],
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
): Promise<void> {
  const [, index = '', rest = ''] = /^\/(\d{1,4})(\/.*)$/.exec(path) ?? [];
  const host = guarded[Number(index || 'none')];
  if (host === undefined) return refuse(response, 404, 'this address does not exist');
  const target = URL.parse(`${host.origin}${rest}`);
  if (target === null || target.origin !== new URL(host.origin).origin || !isReading(request.method, target))
    return refuse(response, 403, `only reading a repository of ${host.origin} is allowed`);
  try {
    const reply = await ask(host, request, response, target);
    await pass(host, target, reply, request, response);
  } catch (error) {
    if (response.headersSent) throw error;
    refuse(response, 502, `${target.origin} cannot be reached: ${networkReason(error)}`);
  }
}

/** The two requests of a fetch or clone, and nothing else. */
function isReading(method: string | undefined, { pathname, search }: URL): boolean {
  if (method === 'GET') return pathname.endsWith('/info/refs') && search === '?service=git-upload-pack';
  return method === 'POST' && pathname.endsWith('/git-upload-pack') && search === '';
}

function ask(
  host: Guarded,
  request: IncomingMessage,
  response: ServerResponse,
  target: URL,
): Promise<IncomingMessage> {
  const token = Buffer.from(`${host.username}:${host.password}`).toString('base64');
  const headers = {
    ...only(request.headers, passedHeaders),
    authorization: `Basic ${token}`,
  };
  return new Promise((resolve, reject) => {
    const start = target.protocol === 'https:' ? httpsRequest : httpRequest;
    const asking = start(target, { method: request.method, headers, timeout: silenceMilliseconds }, resolve);
    asking.once('timeout', () => asking.destroy(new Error(`no answer for ${silenceMilliseconds / 1000} s`)));
    asking.once('error', reject);
    // The command has ended, or git has.
    response.once('close', () => asking.destroy());
    request.pipe(asking);
  });
}

async function pass(
  host: Guarded,
  target: URL,
  reply: IncomingMessage,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const status = reply.statusCode ?? 502;
  if (status >= 300 && status < 400) {
    reply.destroy();
    return redirect(host, target, reply, request, response);
  }
  // git would ask for a user and a password.
  if (status === 401 || status === 403) {
    reply.destroy();
    return refuse(response, 403, `${host.origin} refused the token (status ${status})`);
  }
  response.writeHead(status, only(reply.headers, returnedHeaders));
  await pipeline(reply, response);
}

/** To the same host only: the token is not sent anywhere else. */
function redirect(
  host: Guarded,
  target: URL,
  reply: IncomingMessage,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const next = URL.parse(reply.headers.location ?? '', target.href);
  if (next === null || next.origin !== target.origin)
    return refuse(response, 502, `${target.origin} redirects to another host: use that host's address`);
  const begin = (request.url ?? '').split('/').slice(0, 3).join('/');
  response.writeHead(reply.statusCode ?? 302, { location: `${begin}${next.pathname}${next.search}` }).end();
}

/** git prints the text of such an answer. */
function refuse(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/plain', connection: 'close' }).end(`${text}\n`);
}

function only(
  headers: IncomingMessage['headers'],
  names: readonly string[],
): Record<string, string | string[]> {
  return Object.fromEntries(
    names.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]] as const])),
  );
}

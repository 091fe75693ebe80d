/** For tests: repositories served over http or https by git's own program, optionally with a password. */
import { execFileSync, spawn } from 'node:child_process';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Authority } from './certificates.ts';

export interface GitHost extends AsyncDisposable {
  /** `http://127.0.0.1:<port>` or `https://127.0.0.1:<port>`. */
  readonly url: string;
  readonly host: string;
  readonly requests: { readonly path: string; readonly authorization: string | undefined }[];
}

export interface GitHostOptions {
  /** Folder of the repositories. */
  readonly root: string;
  /** The required `user:password`; absent: everybody may read. */
  readonly credentials?: string;
  readonly authority?: Authority;
  /** Overrides git's answer if it returns one. */
  readonly answer?: (request: IncomingMessage, response: ServerResponse) => boolean;
}

const backend = join(execFileSync('git', ['--exec-path'], { encoding: 'utf8' }).trim(), 'git-http-backend');

/** Starts a host on a free loopback port. */
export async function startGitHost({
  root,
  credentials,
  authority,
  answer,
}: GitHostOptions): Promise<GitHost> {
  const requests: { path: string; authorization: string | undefined }[] = [];
  const expected =
    credentials === undefined ? undefined : `Basic ${Buffer.from(credentials).toString('base64')}`;
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    requests.push({ path: request.url ?? '/', authorization: request.headers.authorization });
    if (answer?.(request, response)) return;
    if (expected !== undefined && request.headers.authorization !== expected)
      return void response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end();
    answerByGit(root, request, response);
  };
  const server =
    authority === undefined ? createServer(handle) : createSecureServer(authority.server, handle);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `${authority === undefined ? 'http' : 'https'}://${host}`,
    host,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function answerByGit(root: string, request: IncomingMessage, response: ServerResponse): void {
  const { pathname, search } = new URL(request.url ?? '/', 'http://host');
  const cgi = spawn(backend, [], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: {
      PATH: '/usr/bin:/bin',
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'safe.directory',
      GIT_CONFIG_VALUE_0: '*',
      PATH_INFO: pathname,
      QUERY_STRING: search.slice(1),
      REQUEST_METHOD: request.method ?? 'GET',
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
      GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
    },
  });
  request.pipe(cgi.stdin);
  cgi.stdin.on('error', () => undefined);
  const parts: Buffer[] = [];
  cgi.stdout.on('data', (part: Buffer) => parts.push(part));
  cgi.once('close', () => {
    const all = Buffer.concat(parts);
    const end = all.indexOf('\r\n\r\n');
    const fields = all
      .toString('latin1', 0, end)
      .split('\r\n')
      .map((line) => line.split(': ', 2) as [string, string]);
    const status = Number.parseInt(fields.find(([name]) => name === 'Status')?.[1] ?? '200', 10);
    response
      .writeHead(status, Object.fromEntries(fields.filter(([name]) => name !== 'Status')))
      .end(all.subarray(end + 4));
  });
}

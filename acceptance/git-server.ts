/** Serves repositories over plain http by git's own program, to clients that know user and password. */
import { execFile, spawn } from 'node:child_process';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';

export interface GitServer extends AsyncDisposable {
  /** `127.0.0.1:port`, as a setting names it. */
  readonly host: string;
  /** Requests that it received: path and credentials. */
  readonly requests: readonly { readonly path: string; readonly authorization: string | undefined }[];
}

export interface GitServerOptions {
  /** Folder whose repositories are served. */
  readonly root: string;
  readonly user: string;
  readonly password: string;
  /** Requests for paths below `/moved/` are sent here. */
  readonly redirectTo?: string;
  /** Requests are answered once this is fulfilled; default: at once. */
  readonly ready?: Promise<void>;
}

/** Hands one request to `git http-backend` by CGI. */
function answerByGit(root: string, request: IncomingMessage, response: ServerResponse): void {
  const { pathname, search } = new URL(request.url ?? '/', 'http://localhost');
  const child = spawn('git', ['http-backend'], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: {
      PATH: process.env.PATH,
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'safe.directory',
      GIT_CONFIG_VALUE_0: '*',
      REQUEST_METHOD: request.method,
      PATH_INFO: decodeURIComponent(pathname),
      QUERY_STRING: search.slice(1),
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
      HTTP_GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
    },
  });
  request.pipe(child.stdin);
  const parts: Buffer[] = [];
  child.stdout.on('data', (part: Buffer) => parts.push(part));
  child.once('close', () => {
    const output = Buffer.concat(parts);
    const end = output.indexOf('\r\n\r\n');
    const fields = output
      .subarray(0, end)
      .toString()
      .split('\r\n')
      .map((line) => line.split(': ', 2) as [string, string]);
    const status = fields.find(([name]) => name === 'Status')?.[1];
    response.writeHead(
      status ? Number.parseInt(status, 10) : 200,
      Object.fromEntries(fields.filter(([name]) => name !== 'Status')),
    );
    response.end(output.subarray(end + 4));
  });
}

/** Starts a server on a free port. */
export async function startGitServer({
  root,
  user,
  password,
  redirectTo,
  ready,
}: GitServerOptions): Promise<GitServer> {
  const expected = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
  const requests: { path: string; authorization: string | undefined }[] = [];
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    const path = request.url ?? '/';
    if (redirectTo !== undefined && path.startsWith('/moved/')) {
      response.writeHead(302, { location: `${redirectTo}${path.slice('/moved'.length)}` }).end();
    } else if (request.headers.authorization === expected) answerByGit(root, request, response);
    else response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end();
  };
  const server = createServer((request, response) => {
    const path = request.url ?? '/';
    requests.push({ path, authorization: request.headers.authorization });
    if (ready === undefined) answer(request, response);
    else void ready.then(() => answer(request, response));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Makes what git serves smartly out of a repository with a working tree. */
export async function makeBare(path: string, bare: string): Promise<void> {
  await promisify(execFile)('git', ['clone', '--quiet', '--bare', '--', path, bare], {
    env: { PATH: process.env.PATH },
  });
}

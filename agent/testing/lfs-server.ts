/** For tests: a server of LFS files, by the batch interface and plain downloads, for the real git-lfs. */
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

export interface LfsServerOptions {
  /** The user and password that the batch interface requires; absent: none. */
  readonly credentials?: { readonly username: string; readonly password: string };
  /** Target of downloads: the address of another server; absent: here. */
  readonly downloadsFrom?: string;
  /** Names of transfers in the response. */
  readonly transfer?: string;
  /** The pause between single bytes of a file; absent: none. */
  readonly byteMilliseconds?: number;
}

export interface LfsServer extends AsyncDisposable {
  /** `http://127.0.0.1:port/lfs`. */
  readonly address: string;
  /** `127.0.0.1:port`. */
  readonly host: string;
  /** Stores a file. @returns the pointer for the repository */
  keep(content: string): string;
  /** Method, path and authorization of each request. */
  readonly requests: { readonly what: string; readonly authorization: string | undefined }[];
}

/** Starts a server on a free port; several may share their `files`. */
export async function startLfsServer(
  options: LfsServerOptions = {},
  files = new Map<string, string>(),
): Promise<LfsServer> {
  const requests: { what: string; authorization: string | undefined }[] = [];
  const { credentials } = options;
  const expected =
    credentials &&
    `Basic ${Buffer.from(`${credentials.username}:${credentials.password}`).toString('base64')}`;
  const server = createServer((request, response) => {
    requests.push({ what: `${request.method} ${request.url}`, authorization: request.headers.authorization });
    if (request.method === 'GET')
      return void download(files, options.byteMilliseconds ?? 0, request, response);
    if (expected !== undefined && request.headers.authorization !== expected)
      return void response.writeHead(401, { 'lfs-authenticate': 'Basic realm="lfs"' }).end();
    void batch(
      files,
      options.downloadsFrom ?? `http://${request.headers.host}`,
      options.transfer ?? 'basic',
      request,
      response,
    );
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    address: `http://${host}/lfs`,
    host,
    requests,
    keep(content) {
      const oid = createHash('sha256').update(content).digest('hex');
      files.set(oid, content);
      return `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize ${Buffer.byteLength(content)}\n`;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function download(
  files: ReadonlyMap<string, string>,
  byteMilliseconds: number,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const content = files.get(request.url?.split('/').at(-1) ?? '');
  if (content === undefined) return void response.writeHead(404).end();
  if (byteMilliseconds === 0) return void response.end(content);
  response.setHeader('content-length', Buffer.byteLength(content));
  for (const byte of Buffer.from(content)) {
    if (response.destroyed) return;
    response.write(Buffer.from([byte]));
    await delay(byteMilliseconds);
  }
  response.end();
}

async function batch(
  files: ReadonlyMap<string, string>,
  downloadsFrom: string,
  transfer: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += chunk as string;
  const { objects } = JSON.parse(text) as { objects: { oid: string; size: number }[] };
  const answers = objects.map(({ oid, size }) =>
    files.has(oid)
      ? { oid, size, authenticated: true, actions: { download: { href: `${downloadsFrom}/files/${oid}` } } }
      : { oid, size, error: { code: 404, message: 'Object does not exist' } },
  );
  response.setHeader('content-type', 'application/vnd.git-lfs+json');
  response.end(JSON.stringify({ transfer, objects: answers }));
}

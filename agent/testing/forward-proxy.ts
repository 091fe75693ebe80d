/** For tests: a forward proxy that tunnels (CONNECT) and passes on plain http, and records its requests. */
import { createServer, request as sendRequest } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';

export interface ForwardProxy extends AsyncDisposable {
  /** With user and password if the proxy requires them. */
  readonly url: string;
  /** `CONNECT host:port` and `GET http://…`, in order. */
  readonly requests: string[];
}

/**
 * @param options.credentials `user:password`; `rewrite` leads a `host:port` elsewhere, for names that do not
 * exist
 */
export async function startForwardProxy(
  options: { readonly credentials?: string; readonly rewrite?: Readonly<Record<string, string>> } = {},
): Promise<ForwardProxy> {
  const requests: string[] = [];
  const { credentials, rewrite = {} } = options;
  const isAllowed = (header: string | undefined) =>
    credentials === undefined || header === `Basic ${Buffer.from(credentials).toString('base64')}`;
  const server = createServer((request, response) => {
    if (!isAllowed(request.headers['proxy-authorization']))
      return void response.writeHead(407, { 'proxy-authenticate': 'Basic realm="proxy"' }).end();
    requests.push(`${request.method} ${request.url}`);
    const url = new URL(request.url ?? '');
    const target = new URL(`http://${rewrite[url.host] ?? url.host}${url.pathname}${url.search}`);
    const { 'proxy-authorization': _, ...headers } = request.headers;
    const passed = sendRequest(target, { method: request.method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    passed.on('error', () => response.destroy());
    request.pipe(passed);
  });
  server.on('connect', (request, socket, head) => {
    socket.on('error', () => undefined);
    if (!isAllowed(request.headers['proxy-authorization']))
      return void socket.end(
        'HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm="proxy"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n',
      );
    requests.push(`CONNECT ${request.url}`);
    const [host = '', port = '443'] = (rewrite[request.url ?? ''] ?? request.url ?? '').split(':');
    const onward = connect(Number(port), host, () => {
      socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      onward.write(head);
      onward.pipe(socket);
      socket.pipe(onward);
    });
    onward.on('error', () => socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n'));
    socket.on('close', () => onward.destroy());
  });
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => void sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${credentials === undefined ? '' : `${credentials}@`}127.0.0.1:${port}`,
    requests,
    async [Symbol.asyncDispose]() {
      // The server does not close tunnels itself.
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/**
 * For tests: a server that speaks the published HTTP interface of Vault, as far as reading needs it: mounts of the
 * key-value engine in both versions, a mount that lends credentials, namespaces, policies by path, the sealed state.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export const vaultToken = 'hvs.planted-vault-token';

export interface VaultServer extends AsyncDisposable {
  readonly address: string;
  isSealed: boolean;
  /** Requests are accepted and never answered. */
  isSilent: boolean;
  /** Path of each request, as `<namespace>:<path>`. */
  readonly requests: string[];
  /** Paths below `/v1/` that the token's policies deny. */
  readonly denied: Set<string>;
  /** Version 1, mount `kv/`. */
  putV1(path: string, fields: Record<string, unknown>): void;
  /** Version 2, mount `secret/`. */
  putV2(path: string, fields: Record<string, unknown>, namespace?: string): void;
  /** As `vault kv delete`. */
  deleteV2(path: string): void;
}

interface Version {
  readonly version: number;
  readonly fields: Record<string, unknown> | null;
}

const mounts: Readonly<Record<string, object>> = {
  kv: { path: 'kv/', type: 'kv', options: { version: '1' } },
  secret: { path: 'secret/', type: 'kv', options: { version: '2' } },
  database: { path: 'database/', type: 'database', options: null },
};

/** Starts a server on a free port. @param leaseSeconds of what `database/creds/<role>` lends */
export async function startVaultServer(leaseSeconds = 60): Promise<VaultServer> {
  const first = new Map<string, Record<string, unknown>>();
  const second = new Map<string, Version>();
  const denied = new Set<string>();
  const requests: string[] = [];
  let lent = 0;

  const answer = (path: string, namespace: string): [number, object] => {
    const [mount = '', ...rest] = path.split('/');
    if (path.startsWith('sys/internal/ui/mounts/')) {
      const found = mounts[rest[3] ?? ''];
      return found === undefined
        ? [403, { errors: ['preflight capability check returned 403'] }]
        : [200, { data: found }];
    }
    if (mount === 'database') {
      lent += 1;
      const data = { username: `v-token-${lent}`, password: `lent-password-${lent}` };
      return [200, { lease_id: `${path}/${lent}`, renewable: true, lease_duration: leaseSeconds, data }];
    }
    if (mount === 'kv') {
      const data = first.get(rest.join('/'));
      return data === undefined
        ? [404, { errors: [] }]
        : [200, { lease_id: '', renewable: false, lease_duration: 2_764_800, data }];
    }
    const found = rest[0] === 'data' ? second.get(`${namespace}:${rest.slice(1).join('/')}`) : undefined;
    if (found === undefined) return [404, { errors: [] }];
    const metadata = {
      version: found.version,
      deletion_time: found.fields ? '' : '2026-01-01T00:00:00Z',
      destroyed: false,
    };
    return [
      found.fields ? 200 : 404,
      { lease_id: '', lease_duration: 0, data: { data: found.fields, metadata } },
    ];
  };

  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    if (server.isSilent) return;
    const path = decodeURIComponent((request.url ?? '').replace(/^\/v1\//, ''));
    const namespace = String(request.headers['x-vault-namespace'] ?? '');
    requests.push(`${namespace}:${path}`);
    const isKnown = request.headers['x-vault-token'] === vaultToken;
    const [status, body] = server.isSealed
      ? [503, { errors: ['Vault is sealed'] }]
      : !isKnown || denied.has(path)
        ? [403, { errors: ['permission denied'] }]
        : answer(path, namespace);
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };

  const http = createServer(handle).listen(0, '127.0.0.1');
  await new Promise((resolve) => http.once('listening', resolve));
  const server: VaultServer = {
    address: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    isSealed: false,
    isSilent: false,
    requests,
    denied,
    putV1: (path, fields) => void first.set(path, fields),
    putV2(path, fields, namespace = '') {
      const key = `${namespace}:${path}`;
      second.set(key, { version: (second.get(key)?.version ?? 0) + 1, fields });
    },
    deleteV2: (path) => void second.set(`:${path}`, { version: 1, fields: null }),
    async [Symbol.asyncDispose]() {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
  return server;
}

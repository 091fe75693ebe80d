/** The messages for wrong calls, and for servers that are not the service. */
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type CommandResult, runCommand } from '../testing/run-command.ts';

const program = fileURLToPath(new URL('main.ts', import.meta.url));
const isRoot = process.getuid?.() === 0;
const hasOpenssl = (process.env.PATH ?? '')
  .split(delimiter)
  .some((path) => existsSync(join(path, 'openssl')));

let folder: string;

const environmentWith = (more: Record<string, string>) => ({
  ...(process.env.NODE_COMPILE_CACHE ? { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE } : {}),
  ...{ PATH: process.env.PATH ?? '', HOME: folder },
  ...{ ENVARIUM_API_KEY: 'a-key', ENVARIUM_API_SECRET: 'the-secret-of-it' },
  ...more,
});

const run = (args: readonly string[], more: Record<string, string> = {}) =>
  runCommand(args, { env: environmentWith(more) });

/** Runs a command in a process of its own: an authority that one trusts is trusted by all that follow in it. */
function runProgram(args: readonly string[], more: Record<string, string>): Promise<CommandResult> {
  return new Promise((resolve) => {
    const options = { env: environmentWith(more), timeout: 60_000 };
    execFile(process.execPath, [program, ...args], options, (error, stdout, stderr) =>
      resolve({ status: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
  });
}

/** Listens on a free port for as long as the work takes. */
async function serving<T>(server: Server, work: (port: number) => Promise<T>): Promise<T> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    return await work((server.address() as AddressInfo).port);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

const answering = (listener: RequestListener) => createServer(listener);

// A command that hangs would hang the process of the tests.
describe('wrong calls', { timeout: 300_000 }, () => {
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'bad-calls-'));
  });
  after(() => rmSync(folder, { recursive: true }));

  test('an unknown command or option exits with 2 and suggests a known one', async () => {
    const { status, stderr } = await run(['deploy', 'web', '--folow']);
    assert.equal(status, 2);
    assert.match(stderr, /unknown option '--folow'[^]*--follow/);
    assert.match((await run(['enviroment', 'list'])).stderr, /environment/);
    assert.equal((await run(['drift', 'web', '--folow'])).status, 1, 'of drift, 2 means drift');
    assert.equal((await run(['completion', 'csh'])).status, 2);
  });

  test('conflicting options and malformed values are named', async () => {
    assert.match(
      (await run(['deploy', 'web', '--follow', '--wait'])).stderr,
      /--wait.*cannot be used with.*--follow/,
    );
    assert.match(
      (await run(['deployments', 'list', 'web', '--limit', 'ten'])).stderr,
      /--limit must be a whole number/,
    );
    const url = { ENVARIUM_API_URL: 'http://127.0.0.1:9' };
    assert.match(
      (await run(['deploy', 'web', '--ttl', 'soon'], url)).stderr,
      /--ttl must be hours, days or weeks/,
    );
    assert.match((await run(['task', 'web'], url)).stderr, /Specify either a command after --, or --script/);
    assert.match((await run(['state', 'rollback', 'web'], url)).stderr, /"web" is not the id of a version/);
    assert.match((await run(['project', 'move', 'a'], url)).stderr, /--top/);
  });

  test('a file that is not a state is not sent', async () => {
    const url = { ENVARIUM_API_URL: 'http://127.0.0.1:9' };
    for (const [name, content, message] of [
      ['plan.bin', 'PK\u0003\u0004', /is not a state file: it is not JSON/],
      ['show.json', '{"format_version":"1.0"}', /it has no version and lineage/],
      ['null.json', 'null', /it has no version and lineage/],
    ] as const) {
      writeFileSync(join(folder, name), content);
      const { status, stderr } = await run(['state', 'push', 'web', join(folder, name)], url);
      assert.equal(status, 2);
      assert.match(stderr, message);
    }
    assert.match(
      (await run(['state', 'push', 'web', 'nowhere'], url)).stderr,
      /nowhere cannot be read: ENOENT/,
    );
  });

  test('a service that is missing, is not Envarium or does not speak TLS is reported with advice', async () => {
    const free = await serving(
      answering(() => {}),
      (port) => Promise.resolve(port),
    );
    const down = await run(['project', 'list'], { ENVARIUM_API_URL: `http://127.0.0.1:${free}` });
    assert.deepEqual([down.status, down.stdout], [2, '']);
    assert.match(down.stderr, /cannot be reached: connect ECONNREFUSED[^]*Nothing is listening there/);
    assert.doesNotMatch(down.stderr, /the-secret-of-it|at .*\.ts/);
    const page = answering((_, reply) =>
      reply.setHeader('content-type', 'text/html').end('<html>a proxy</html>'),
    );
    await serving(page, async (port) => {
      const plain = await run(['project', 'list'], { ENVARIUM_API_URL: `http://127.0.0.1:${port}` });
      assert.match(plain.stderr, /The server that responded is not Envarium/);
      const { stderr } = await run(['project', 'list'], { ENVARIUM_API_URL: `https://127.0.0.1:${port}` });
      assert.match(stderr, /That port does not speak TLS/);
    });
  });

  test('a reply of another form names the operation, and what may be at the address', async () => {
    const other = answering((_, reply) =>
      reply.setHeader('content-type', 'application/json').end('{"status":"ok"}'),
    );
    await serving(other, async (port) => {
      const { status, stdout, stderr } = await run(['project', 'list'], {
        ENVARIUM_API_URL: `http://127.0.0.1:${port}`,
      });
      assert.deepEqual([status, stdout], [2, '']);
      assert.match(stderr, /^The reply to list\w+ has an unexpected form: .+\.$/m);
      assert.match(stderr, /Perhaps the server is not Envarium, or has another version/);
      const login = await run(['login'], { ENVARIUM_API_URL: `http://127.0.0.1:${port}` });
      assert.equal(login.status, 2);
      assert.match(login.stderr, /is not Envarium\. Nothing was written/);
    });
  });

  test('the message about an untrusted certificate names the way to trust it, and that way works', {
    skip: !hasOpenssl && 'needs openssl',
  }, async () => {
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    const subject = '-subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1';
    const request = `req -x509 -newkey rsa:2048 -nodes -days 2 -keyout ${key} -out ${cert} ${subject}`;
    execFileSync('openssl', request.split(' '), { stdio: 'ignore' });
    const server = createTlsServer({ key: readFileSync(key), cert: readFileSync(cert) }, (_, reply) =>
      reply.end('[]'),
    );
    await serving(server as unknown as Server, async (port) => {
      const url = { ENVARIUM_API_URL: `https://127.0.0.1:${port}` };
      const refused = await runProgram(['organization', 'list'], url);
      assert.equal(refused.status, 2);
      assert.match(refused.stderr, /self-signed certificate[^]*ENVARIUM_CA_FILE=<file>/);
      const good = await runProgram(['organization', 'list', '--json'], { ...url, ENVARIUM_CA_FILE: cert });
      assert.deepEqual([good.status, good.stdout], [0, '[]\n'], good.stderr);
      const none = await runProgram(['organization', 'list'], { ...url, ENVARIUM_CA_FILE: key });
      assert.match(none.stderr, /ENVARIUM_CA_FILE: .*key\.pem contains no certificate/);
    });
  });

  test('a call that reaches the rate limit is repeated after the wait, a creating one with the same key', async () => {
    const keys: (string | undefined)[] = [];
    let count = 0;
    await serving(
      answering((request, reply) => {
        if (request.method === 'POST') keys.push(request.headers['idempotency-key'] as string | undefined);
        count++;
        if (count === 1)
          return reply
            .writeHead(429, { 'retry-after': '1' })
            .end('{"code":"rate_limited","message":"Too many requests"}');
        if (count === 2) return request.socket.destroy();
        return reply.end('{"id":"1","name":"made","createdAt":"2026-11-21T12:00:00Z"}');
      }),
      async (port) => {
        const { status, stderr } = await run(['organization', 'create', 'made', '--json'], {
          ENVARIUM_API_URL: `http://127.0.0.1:${port}`,
        });
        assert.equal(status, 0, stderr);
        assert.match(stderr, /trying again in 1 s/);
      },
    );
    assert.equal(keys.length, 3);
    assert.equal(new Set(keys).size, 1);
    assert.match(keys[0] ?? '', /^[0-9a-f-]{36}$/);
  });

  test('a config file that cannot be read, is malformed or is readable by others is reported', async () => {
    const file = join(folder, 'config.json');
    const environment = { ENVARIUM_CONFIG_FILE: file, ENVARIUM_API_KEY: '', ENVARIUM_API_SECRET: '' };
    writeFileSync(file, 'not json');
    assert.match(
      (await run(['project', 'list'], environment)).stderr,
      /config\.json does not contain a login/,
    );
    writeFileSync(
      file,
      JSON.stringify({ apiUrl: 'http://127.0.0.1:9', apiKey: 'k', apiSecret: 'the-kept-secret' }),
    );
    chmodSync(file, 0o644);
    const open = await run(['project', 'list'], environment);
    assert.match(open.stderr, /Others can read .*config\.json[^]*chmod 600/);
    assert.doesNotMatch(open.stderr, /the-kept-secret/);
    const doctor = await run(['doctor', '--service', '--json'], environment);
    assert.equal(doctor.status, 1);
    assert.match(doctor.stdout, /others can read/);
    assert.doesNotMatch(doctor.stdout, /the-kept-secret/);
    rmSync(file);
    mkdirSync(file);
    assert.match((await run(['project', 'list'], environment)).stderr, /config\.json cannot be read: EISDIR/);
    rmSync(file, { recursive: true });
    if (isRoot) return;
    writeFileSync(file, '{}', { mode: 0o000 });
    assert.match((await run(['project', 'list'], environment)).stderr, /cannot be read: EACCES/);
  });
});

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { failureMessageOf } from '../../../testing/outcomes.ts';
import { createSetup, type RunnerSetup } from '../../../testing/runner-setup.ts';
import { findProgram } from '../../processes/programs.ts';

const backend = join(execFileSync('git', ['--exec-path'], { encoding: 'utf8' }).trim(), 'git-http-backend');
const needs = {
  skip:
    findProgram('terraform') === null
      ? 'needs terraform'
      : existsSync(backend)
        ? false
        : 'needs git http-backend',
};
const password = 'p4ssw0rd-of-the-repository';

/** Hands a request to git's own CGI program. */
function serveGit(setup: RunnerSetup, request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url ?? '/', 'http://host');
  const cgi = spawn(backend, [], {
    env: {
      GIT_PROJECT_ROOT: join(setup.folder, 'repositories'),
      GIT_HTTP_EXPORT_ALL: '1',
      PATH_INFO: url.pathname,
      QUERY_STRING: url.search.slice(1),
      REQUEST_METHOD: request.method ?? 'GET',
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
      PATH: '/usr/bin:/bin',
    },
  });
  request.pipe(cgi.stdin);
  const chunks: Buffer[] = [];
  cgi.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  cgi.on('exit', () =>
    setImmediate(() => {
      const all = Buffer.concat(chunks);
      const end = all.indexOf('\r\n\r\n');
      for (const line of all.toString('latin1', 0, end).split('\r\n')) {
        const [name = '', value = ''] = line.split(': ');
        if (name === 'Status') response.statusCode = Number.parseInt(value);
        else response.setHeader(name, value);
      }
      response.end(all.subarray(end + 4));
    }),
  );
}

async function listen(
  t: TestContext,
  handle: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<string> {
  const server: Server = createServer(handle).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function guarded(setup: RunnerSetup) {
  return (request: IncomingMessage, response: ServerResponse) => {
    if (request.headers.authorization === `Basic ${Buffer.from(`user:${password}`).toString('base64')}`)
      return serveGit(setup, request, response);
    response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end();
  };
}

test(
  'a repository is read over http with user and token, and the token is left nowhere',
  needs,
  async (t) => {
    const setup = createSetup(t, { 'main.tf': 'resource "terraform_data" "one" {}\n' });
    const address = await listen(t, guarded(setup));
    const { source } = setup.job();
    const ran = await setup.run(
      setup.job({
        source: {
          ...source,
          repository: `${address}/code`,
          revision: 'main',
          credentials: { username: 'user', password },
        },
      }),
    );
    assert.equal(ran.outcome.result, 'planned', JSON.stringify(ran.outcome));
    const traces = [password, Buffer.from(`user:${password}`).toString('base64')];
    for (const file of filesBelow(ran.spool.folder).filter((name) => name !== ran.spool.job)) {
      for (const trace of traces)
        assert.equal(readFileSync(file).includes(trace), false, `${file} holds the token`);
    }
    for (const file of filesBelow(setup.workFolder))
      for (const trace of traces)
        assert.equal(readFileSync(file).includes(trace), false, `${file} holds the token`);
  },
);

test('a refused or missing token is reported', needs, async (t) => {
  const setup = createSetup(t, { 'main.tf': '' });
  const address = await listen(t, guarded(setup));
  const { source } = setup.job();
  const run = async (credentials?: { username: string; password: string }) =>
    (
      await setup.run(
        setup.job({
          source: { ...source, repository: `${address}/code`, ...(credentials ? { credentials } : {}) },
        }),
      )
    ).outcome.error?.message ?? '';
  assert.match(await run({ username: 'user', password: 'wrong' }), /^token: .*refused its user or password/);
  assert.match(await run(), /^repository .*requires credentials/);
});

test('a missing repository and an unreachable host are reported', needs, async (t) => {
  const setup = createSetup(t, { 'main.tf': '' });
  const address = await listen(t, (_, response) => void response.writeHead(404).end());
  const { source } = setup.job();
  const run = async (repository: string) =>
    failureMessageOf(await setup.run(setup.job({ source: { ...source, repository } })));
  assert.match(await run(`${address}/none`), /^repository .*does not exist/);
  assert.match(await run('http://127.0.0.1:1/none'), /^repository .*does not answer/);
  assert.match(await run('http://other.example/none'), /^repository .*ENVARIUM_GIT_HTTP_HOSTS/);
});

test('a token is sent to no other address, not even after a redirect', needs, async (t) => {
  const setup = createSetup(t, { 'main.tf': '' });
  const seen: (string | undefined)[] = [];
  const other = await listen(t, (request, response) => {
    seen.push(request.headers.authorization);
    response.writeHead(404).end();
  });
  const address = await listen(
    t,
    (request, response) => void response.writeHead(302, { location: `${other}${request.url}` }).end(),
  );
  const { source } = setup.job();
  const ran = await setup.run(
    setup.job({
      source: { ...source, repository: `${address}/code`, credentials: { username: 'user', password } },
    }),
  );
  assert.match(failureMessageOf(ran), /^repository .*redirects elsewhere/);
  assert.deepEqual(seen, []);
});

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

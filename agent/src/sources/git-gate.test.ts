import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { openGitGate } from './git-gate.ts';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

async function startHost(t: TestContext, answer: Answer) {
  const requests: { path: string; authorization: string | undefined }[] = [];
  const server = createServer((request, response) => {
    requests.push({ path: request.url ?? '', authorization: request.headers.authorization });
    request.resume();
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { host: `127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

function sourceFor(host: string) {
  return {
    repository: 'https://code.example/one',
    credentials: { username: 'ada', password: 'first' },
    hostCredentials: [{ host, username: 'bob', password: 'second' }],
    httpHosts: ['127.0.0.1'],
  };
}

/** The address that git uses instead of one that begins like this. */
function rewritten(settings: readonly (readonly [string, string])[], prefix: string): string {
  const key = settings.find(([, value]) => value === prefix)?.[0] ?? '';
  return /^url\.(.*)\.insteadOf$/.exec(key)?.[1] ?? '';
}

test('the gate adds the token of a host and passes on only what reads a repository', async (t) => {
  const { host, requests } = await startHost(t, (_, response) => void response.end('refs'));
  await using gate = await openGitGate(sourceFor(host));
  const base = rewritten(gate.settings, `http://${host}/`);
  const status = async (path: string, init: RequestInit = {}) =>
    (await fetch(`${base}${path}`, { redirect: 'manual', ...init })).status;
  assert.equal(await status('a/b.git/info/refs?service=git-upload-pack'), 200);
  assert.equal(await status('a/b.git/git-upload-pack', { method: 'POST', body: 'want' }), 200);
  const authorization = `Basic ${Buffer.from('bob:second').toString('base64')}`;
  assert.deepEqual(requests, [
    { path: '/a/b.git/info/refs?service=git-upload-pack', authorization },
    { path: '/a/b.git/git-upload-pack', authorization },
  ]);
  for (const path of [
    'a/b.git/info/refs?service=git-receive-pack',
    'a/b.git/info/refs',
    'a/b.git/info/refs?service=git-upload-pack&service=git-receive-pack',
    'api/v4/user',
  ])
    assert.equal(await status(path), 403, path);
  for (const path of ['a/b.git/git-receive-pack', 'api/v4/projects'])
    assert.equal(await status(path, { method: 'POST', body: 'x' }), 403, path);
  assert.equal(await status('a/b.git/git-upload-pack', { method: 'PUT', body: 'x' }), 403);
  assert.equal(requests.length, 2);
});

test('the gate requires its secret and serves only the hosts of the job', async (t) => {
  const { host, requests } = await startHost(t, (_, response) => void response.end());
  await using gate = await openGitGate(sourceFor(host));
  const base = rewritten(gate.settings, `http://${host}/`);
  const { origin } = new URL(base);
  const read = 'info/refs?service=git-upload-pack';
  for (const url of [
    `${origin}/0/${read}`,
    `${origin}/${'0'.repeat(32)}/0/${read}`,
    base.replace(/\d+\/$/, `99/${read}`),
  ])
    assert.equal((await fetch(url)).status, 404, url);
  assert.equal((await fetch(`${base}/other.example/${read}`)).status, 200);
  assert.deepEqual(
    requests.map(({ path }) => path),
    [`//other.example/${read}`],
  );
});

test('the gate follows redirects to the same host only', async (t) => {
  const elsewhere = await startHost(t, (_, response) => void response.end());
  const { host } = await startHost(t, (request, response) => {
    const isMoved = request.url?.startsWith('/moved');
    const to = isMoved ? '/new/info/refs?service=git-upload-pack' : `http://${elsewhere.host}/x`;
    response.writeHead(request.url?.startsWith('/new') ? 200 : 302, { location: to }).end('refs');
  });
  await using gate = await openGitGate(sourceFor(host));
  const base = rewritten(gate.settings, `http://${host}/`);
  const away = await fetch(`${base}away/info/refs?service=git-upload-pack`);
  assert.equal(away.status, 502);
  assert.match(await away.text(), /redirects to another host/);
  assert.equal(elsewhere.requests.length, 0);
  const moved = await fetch(`${base}moved/info/refs?service=git-upload-pack`);
  assert.equal(await moved.text(), 'refs');
});

test('the settings of git contain no token, and a closed gate does not answer', async () => {
  const gate = await openGitGate(sourceFor('modules.example'));
  assert.doesNotMatch(JSON.stringify(gate.settings), /first|second|Basic/);
  const base = rewritten(gate.settings, 'https://modules.example/');
  assert.notEqual(base, rewritten(gate.settings, 'https://code.example/'));
  for (const prefix of ['https://git@modules.example/', 'https://modules.example:443/'])
    assert.equal(rewritten(gate.settings, prefix), base);
  await gate[Symbol.asyncDispose]();
  await assert.rejects(fetch(base));
});

test('the gate does not use credentials that are for the checkout only', async () => {
  await using gate = await openGitGate({
    repository: 'https://code.example/one',
    credentials: { username: 'ada', password: 'first' },
    areCredentialsForCheckoutOnly: true,
    httpHosts: [],
  });
  assert.deepEqual(gate.settings, []);
});

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempDisposable } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { readAnswer } from './advisory-report.ts';
import { runNpm } from './npm/run-npm.ts';

const url = 'https://github.com/advisories/GHSA-aaaa-bbbb-cccc';
const today = new Date('2026-11-22T12:00:00Z');
const exception = {
  advisory: 'GHSA-aaaa-bbbb-cccc',
  package: 'pg',
  reason: 'not reached',
  expires: '2026-11-22',
};

const never = () => false;

/** Output of npm for a registry that responds like this. */
async function auditWith(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const registry = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const args = ['audit', '--package-lock-only', '--json', '--fetch-retries=0'];
    // A cache of its own: npm remembers advisories.
    await using cache = await mkdtempDisposable(join(tmpdir(), 'advisories '));
    return (await runNpm([...args, `--registry=${registry}`, `--cache=${cache.path}`])).stdout;
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

/** Answers with one advisory for every version of pg, which a development package uses as well. */
const withAdvisory =
  (severity: string): RequestListener =>
  (request, reply) => {
    const name = decodeURIComponent(request.url?.slice(1) ?? '');
    const body = name.endsWith('advisories/bulk')
      ? { pg: [{ id: 1, url, title: 'a hole', severity, vulnerable_versions: '>=0' }] }
      : { name, 'dist-tags': {}, versions: { '1.0.0': { name, version: '1.0.0' } } };
    request.resume().on('end', () => {
      reply.setHeader('content-type', 'application/json').end(JSON.stringify(body));
    });
  };

test('a serious advisory fails, unless an exception with a reason has not expired', async () => {
  const answer = await auditWith(withAdvisory('high'));
  const judge = (exceptions: unknown[], day = today) =>
    readAnswer(answer, JSON.stringify(exceptions), never, day);
  assert.equal(judge([]).isGood, false, answer);
  assert.match(judge([]).lines[0] ?? '', /^✖ high: pg .*a hole/);
  assert.equal(judge([exception]).isGood, true);
  assert.match(judge([exception]).lines[0] ?? '', /accepted until 2026-11-22, not reached/);
  assert.equal(judge([{ ...exception, package: 'ajv' }]).isGood, false);
  assert.equal(judge([exception], new Date('2026-11-23T00:00:00Z')).isGood, false);
  assert.throws(() => judge([{ ...exception, reason: '' }]), /needs advisory, package, reason/);
});

test('an advisory of a package that only development uses does not count', async () => {
  const answer = await auditWith(withAdvisory('critical'));
  assert.equal(readAnswer(answer, '[]', (path) => path === 'node_modules/pg', today).isGood, true);
  assert.equal(readAnswer(answer, '[]', (path) => path === 'node_modules/ajv', today).isGood, false);
});

test('a minor advisory is listed and does not fail', async () => {
  const { lines, isGood } = readAnswer(await auditWith(withAdvisory('moderate')), '[]', never, today);
  assert.match(lines[0] ?? '', /^ {2}moderate: pg/);
  assert.equal(isGood, true);
});

test('a registry that does not know advisories skips the check, and the reason does not name it', async () => {
  const refusing = await auditWith((_request, reply) => reply.writeHead(405).end());
  const { lines, isGood } = readAnswer(refusing, '[]', never, today);
  assert.deepEqual(lines, ['Advisories: SKIPPED, the registry does not answer this question (status 405).']);
  assert.equal(isGood, true);
  assert.match(readAnswer('', '[]', never, today).lines[0] ?? '', /SKIPPED, npm gave no answer/);
});

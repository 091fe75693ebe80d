import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { contentText, linkHash, sha256, zeroHash } from '#contract/audit/chain.ts';
import type { AuditEvent } from '#contract/audit/shapes.ts';
import { runAgainst } from '../../testing/fake-service.ts';

const folder = mkdtempSync(join(tmpdir(), 'envarium-audit-'));
after(() => rmSync(folder, { recursive: true }));

const organization = { id: 'o1', name: 'Envarium' };

/** Entries of a trail with right hashes. */
function chain(count: number): AuditEvent[] {
  let previousHash = zeroHash;
  return Array.from({ length: count }, (_, index) => {
    const content = {
      id: `00000000-0000-7000-8000-${String(index + 1).padStart(12, '0')}`,
      organizationId: 'o1',
      projectId: null,
      actorId: 'ada',
      keyId: 'k1',
      ipAddress: '192.0.2.1',
      actionName: 'project.updated',
      entity: 'project',
      entityId: 'p1',
      requestId: 'r1',
      timestamp: '2026-01-31T12:00:00.000Z',
      payload: {},
      before: { name: 'old' },
      after: { name: 'ü'.repeat(index) },
    };
    const link = { number: index + 1, previousHash, contentHash: sha256(contentText(content)) };
    const hash = linkHash('o1', link);
    previousHash = hash;
    return { ...content, link: { ...link, hash } } as unknown as AuditEvent;
  });
}

const entries = chain(12);
const text = entries.map((entry) => `${JSON.stringify(entry)}\n`).join('');

/** Answers what comes after an entry, and cuts the answer in the middle of a line. @param atOnce lines until the cut */
function cutting(atOnce: number) {
  return ({ url = '' }: IncomingMessage, response: ServerResponse) => {
    const offset = new URL(url, 'http://localhost').searchParams.get('offset');
    const from = entries.findIndex(({ id }) => id === offset) + 1;
    const rest = entries.slice(from).map((entry) => `${JSON.stringify(entry)}\n`);
    response.writeHead(200, { 'content-type': 'application/x-ndjson' });
    if (rest.length <= atOnce) return void response.end(rest.join(''));
    const half = Buffer.from(rest[atOnce] ?? '').subarray(0, 300);
    response.write(Buffer.concat([Buffer.from(rest.slice(0, atOnce).join('')), half]), () =>
      setTimeout(() => response.destroy(), 50),
    );
  };
}

test('audit list shows entries as a table, with filters', async () => {
  const seen: string[] = [];
  const replies = {
    'GET /organizations': [organization],
    'GET /audit/events': ({ url = '' }: IncomingMessage, response: ServerResponse) => {
      seen.push(url);
      const events = entries
        .slice(0, 2)
        .map((entry) => ({ ...entry, actor: { user_id: 'ada', name: 'Ada' } }));
      response.end(JSON.stringify({ events, nextPageKey: '' }));
    },
  };
  const { status, stdout, stderr } = await runAgainst(
    ['audit', 'list', '--actor', 'ada', '--from', '2026-01-31', '--limit', '2'],
    replies,
  );
  assert.equal(status, 0, stderr);
  assert.match(stdout, /Ada +project\.updated +project p1/);
  assert.match(seen[0] ?? '', /from=2026-01-31T00%3A00%3A00.000Z&actorId=ada&limit=2&organizationId=o1/);
  const wrong = await runAgainst(['audit', 'list', '--from', 'yesterday'], replies);
  assert.deepEqual([wrong.status, /--from must be a time/.test(wrong.stderr)], [2, true]);
});

test('audit export continues where it is cut, on standard output and in a file', async () => {
  const replies = { 'GET /organizations': [organization], 'GET /audit/export': cutting(5) };
  const printed = await runAgainst(['audit', 'export'], replies);
  assert.deepEqual([printed.status, printed.stdout], [0, text], printed.stderr);
  const file = join(folder, 'export.jsonl');
  const lines = text.split('\n');
  // Half a line from a program that was ended.
  writeFileSync(file, `${lines.slice(0, 4).join('\n')}\n${(lines[4] ?? '').slice(0, 20)}`, { mode: 0o600 });
  const { status, stderr } = await runAgainst(['audit', 'export', '--output', file], replies);
  assert.deepEqual([status, readFileSync(file, 'utf8')], [0, text], stderr);
  assert.match(stderr, /8 entries added/);
  const again = await runAgainst(['audit', 'export', '--output', file], replies);
  assert.deepEqual([again.status, readFileSync(file, 'utf8')], [0, text], again.stderr);
  const fresh = join(folder, 'fresh.jsonl');
  await runAgainst(['audit', 'export', '--output', fresh], replies);
  assert.deepEqual([readFileSync(fresh, 'utf8'), statSync(fresh).mode & 0o777], [text, 0o600]);
});

test('audit export gives up when nothing arrives any more, and leaves other files alone', async () => {
  const replies = { 'GET /organizations': [organization], 'GET /audit/export': cutting(0) };
  const { status, stderr } = await runAgainst(['audit', 'export'], replies);
  assert.deepEqual([status, /was cut/.test(stderr)], [2, true], stderr);
  const other = join(folder, 'notes.txt');
  for (const content of [
    'not an export\n',
    'no line',
    '{"id": 5}\n',
    '{"id":"e1"}\n',
    '{"version":4,"serial":7}',
    '{"id":"e1","name":"web"}',
    `${text}{"version":4}`,
  ]) {
    writeFileSync(other, content);
    const refused = await runAgainst(['audit', 'export', '--output', other], replies);
    assert.deepEqual([refused.status, readFileSync(other, 'utf8')], [2, content]);
    assert.match(refused.stderr, /is not an export/);
  }
});

test('audit verify --file checks an export without the service', async () => {
  const file = join(folder, 'whole.jsonl');
  const check = async (content: string, ...flags: string[]) => {
    writeFileSync(file, content);
    return runAgainst(['audit', 'verify', '--file', file, ...flags], {});
  };
  const good = await check(text);
  assert.deepEqual([good.status, good.seen], [0, []], good.stderr);
  assert.match(good.stdout, /is intact: 12 entries/);
  const head = entries.at(-1)?.link.hash ?? '';
  assert.match(good.stdout, new RegExp(head));
  assert.equal((await check(text, '--head', head.toUpperCase())).status, 0);
  const lines = text.trimEnd().split('\n');
  const bad: [string, RegExp, ...string[]][] = [
    [lines.toSpliced(3, 1).join('\n'), /linkRemoved +4 /],
    [text.replace('"ada"', '"eve"'), /entryChanged +1 /],
    [[...lines.slice(0, 2), lines[0], ...lines.slice(2)].join('\n'), /linkChanged +1 /],
    [text.slice(0, -20), /lineUnreadable .*Line 12/],
    [lines.slice(0, -1).join('\n'), /headNotFound/, '--head', head],
  ];
  for (const [content, expected, ...flags] of bad) {
    const { status, stdout } = await check(content, ...flags);
    assert.equal(status, 1, stdout);
    assert.match(stdout, expected);
  }
  const json = JSON.parse((await check(lines.slice(1).join('\n'), '--json')).stdout) as { isIntact: boolean };
  assert.equal(json.isIntact, true, 'an export may begin anywhere');
  assert.equal((await runAgainst(['audit', 'verify', '--file', join(folder, 'none')], {})).status, 2);
  assert.equal((await runAgainst(['audit', 'verify', '--head', 'abc'], {})).status, 2);
});

test('audit verify asks the service, and its status tells whether the trail is intact', async () => {
  const result = { isIntact: true, checkedAt: '', entries: 3, findings: [], findingCount: 0, heads: [] };
  const broken = {
    ...result,
    isIntact: false,
    findings: [{ kind: 'entryChanged', chain: 'o1', number: 2, entryId: 'e', text: 'Entry 2 was changed' }],
    findingCount: 1,
  };
  const good = await runAgainst(['audit', 'verify'], {
    'GET /organizations': [organization],
    'GET /audit/verify': result,
  });
  assert.deepEqual([good.status, /is intact: 3 entries/.test(good.stdout)], [0, true], good.stderr);
  const bad = await runAgainst(['audit', 'verify', '--installation'], {
    'GET /audit/installation/verify': broken,
  });
  assert.deepEqual([bad.status, /entryChanged +2 +Entry 2 was changed/.test(bad.stdout)], [1, true]);
});

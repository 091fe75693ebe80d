import assert from 'node:assert/strict';
import { test } from 'node:test';
import { operations } from '#contract/operations.ts';
import { patientFetch } from './patient-fetch.ts';

interface Seen {
  readonly keys: (string | null)[];
  readonly messages: string[];
}

/** Answers one after the other; an error is thrown. */
function playing(...answers: (Response | Error)[]): Seen & { fetch: typeof fetch } {
  const keys: (string | null)[] = [];
  const messages: string[] = [];
  const send: typeof fetch = (_, init) => {
    keys.push(new Headers(init?.headers).get('idempotency-key'));
    const answer = answers.shift();
    if (answer === undefined) throw new Error('requested too often');
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
  };
  return { keys, messages, fetch: patientFetch({ fetch: send, tell: (text) => messages.push(text) }) };
}

const broken = (code: string) =>
  new TypeError('fetch failed', { cause: Object.assign(new Error(code), { code }) });
const tooMany = (after: string) => new Response('', { status: 429, headers: { 'retry-after': after } });

test('a 429 is waited out as long as it says, which is reported', async () => {
  const seen = playing(tooMany('0'), new Response('good'));
  assert.equal(await (await seen.fetch('http://x', { method: 'PUT' })).text(), 'good');
  assert.match(seen.messages.join(), /trying again in 0 s/);
  const dated = playing(tooMany(new Date(Date.now() + 2_000).toUTCString()), new Response('good'));
  await dated.fetch('http://x', { method: 'PUT' });
  assert.match(dated.messages.join(), /trying again in [012] s/);
});

test('a 429 that demands more than a minute is returned', async () => {
  const seen = playing(tooMany('3600'));
  assert.equal((await seen.fetch('http://x', { method: 'GET' })).status, 429);
  assert.equal((await playing(tooMany('soon')).fetch('http://x', { method: 'GET' })).status, 429);
  const inAnHour = new Date(Date.now() + 3_600_000).toUTCString();
  assert.equal((await playing(tooMany(inAnHour)).fetch('http://x', { method: 'GET' })).status, 429);
  const past = playing(tooMany(new Date(3_000).toUTCString()), new Response('good'));
  assert.equal(await (await past.fetch('http://x', { method: 'GET' })).text(), 'good');
});

test('a creating request is repeated with the same key', async () => {
  const seen = playing(broken('ECONNRESET'), new Response('', { status: 503 }), new Response('made'));
  assert.equal(
    await (
      await seen.fetch('http://x', { method: 'POST', headers: { 'content-type': 'application/json' } })
    ).text(),
    'made',
  );
  assert.equal(seen.keys.length, 3);
  assert.ok(seen.keys[0]);
  assert.equal(new Set(seen.keys).size, 1);
});

test('tests and previews, which ask others each time, are not repeated', async () => {
  const asking = Object.values(operations).filter((each) => 'asksOthers' in each && each.asksOthers === true);
  assert.ok(asking.length > 0);
  for (const operation of Object.values(operations)) {
    const { fetch, keys } = playing(new Response('good'));
    await fetch(`http://x${operation.path}`, { method: 'POST' });
    assert.equal(keys[0] === null, asking.includes(operation as never), operation.path);
  }
  const seen = playing(broken('ECONNRESET'));
  await assert.rejects(seen.fetch('http://x/api/credentials/a/test', { method: 'POST' }));
  assert.deepEqual(seen.keys, [null]);
});

test('requests that could take effect twice, or never reached the service, are not repeated', async () => {
  for (const [method, error] of [
    ['PUT', 'ECONNRESET'],
    ['GET', 'ECONNREFUSED'],
    ['POST', 'CERT_HAS_EXPIRED'],
  ] as const) {
    const seen = playing(broken(error));
    await assert.rejects(seen.fetch('http://x', { method }), TypeError);
    assert.equal(seen.keys.length, 1);
  }
  const upload = playing(new Response('', { status: 502 }));
  assert.equal(
    (
      await upload.fetch('http://x', {
        method: 'POST',
        headers: { 'content-type': 'application/octet-stream' },
      })
    ).status,
    502,
  );
});

import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { testApp } from '../testing/app.ts';
import { basic } from '../testing/client.ts';

const app = await testApp();
const port = Number(new URL(await app.listen()).port);
const patienceMilliseconds = 2_000;
const end = '\r\n\r\n';
const signedIn = `authorization: ${basic(app.admin)}\r\ncontent-type: application/json`;

/** Sends bytes and waits until the service closes, or for a while. @returns everything that it answered */
function exchange(request: string | Buffer): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(request));
    socket.setTimeout(patienceMilliseconds, () => socket.destroy());
    socket.on('data', (bytes: Buffer) => (text += bytes.toString('latin1')));
    socket.on('error', () => {});
    socket.on('close', () => resolve(text));
  });
}

/** The status of each answer. */
const statuses = (text: string) =>
  [...text.matchAll(/^HTTP\/1\.1 (\d{3})/gm)].map(([, status]) => Number(status));

const smuggled = 'GET /healthz HTTP/1.1\r\nhost: x';
/** A request with such headers, and another one in what may be its body. */
const post = (...headers: string[]) =>
  [['POST /api/projects HTTP/1.1', 'host: x', signedIn, ...headers].join('\r\n'), '0', smuggled, ''].join(
    end,
  );
const get = (rest: string) => `GET /healthz${rest}${smuggled}${end}`;
const requests: Readonly<Record<string, string>> = {
  'with both kinds of length': post('content-length: 4', 'transfer-encoding: chunked'),
  'with two lengths': post('content-length: 0', 'content-length: 5'),
  'with an unknown encoding': post('transfer-encoding: xchunked'),
  'with a hidden encoding': post('transfer-encoding : chunked'),
  'with a length that is not a number': post('content-length: +5'),
  'with line feeds alone': get(' HTTP/1.1\nhost: x\n\n'),
  'with a folded header': get(` HTTP/1.1\r\nhost: x\r\n folded: y${end}`),
  'with a carriage return in a header': get(` HTTP/1.1\r\nhost: x\r\nx-request-id: a\rset-cookie: b${end}`),
  'with a header of 20 KB': get(` HTTP/1.1\r\nhost: x\r\nx: ${'y'.repeat(20_000)}${end}`),
  'without a version': get(end),
};

for (const [name, request] of Object.entries(requests))
  test(`a request ${name} is refused, and nothing behind it is answered`, async () => {
    const answer = await exchange(request);
    assert.deepEqual(
      statuses(answer).filter((status) => ![400, 431].includes(status)),
      [],
      answer,
    );
    assert.equal(statuses(answer).length, 1, answer);
    assert.doesNotMatch(answer, /set-cookie/i);
  });

const bodies: Readonly<Record<string, string | Buffer>> = {
  'bytes that are not UTF-8': Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]),
  'UTF-16': Buffer.from('\ufeff{"name":"x"}', 'utf16le'),
  'a byte order mark': '\ufeff{"name":"x"}',
  'a number without end': '{"name":1e999}',
  'a prototype': '{"__proto__":{"name":"x"},"constructor":{"prototype":{"name":"x"}}}',
  'a NUL character': '{"name":"a\\u0000b","organizationId":"x"}',
  'half a surrogate pair': '{"name":"\\ud800"}',
  'the same key twice, of which one is wrong': '{"name":"x","name":{}}',
  'many levels': '['.repeat(200_000),
  'single quotes': "{'name':'x'}",
};

for (const [name, body] of Object.entries(bodies))
  test(`a body with ${name} is refused as a mistake of the caller`, async () => {
    const bytes = Buffer.from(body);
    const length = `connection: close\r\ncontent-length: ${bytes.length}`;
    const head = `POST /api/projects HTTP/1.1\r\nhost: x\r\n${signedIn}\r\n${length}${end}`;
    const answer = await exchange(Buffer.concat([Buffer.from(head), bytes]));
    assert.ok([400, 413, 422].includes(statuses(answer)[0] ?? 0), answer);
    assert.equal(Object.hasOwn(Object.prototype, 'name'), false);
  });

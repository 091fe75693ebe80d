import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { ErrorBody } from '#contract/schema/errors.ts';
import { checkValue } from '../../../testing/check-reply.ts';
import { basic } from '../../../testing/client.ts';
import { startTests } from '../../../testing/start.ts';

const { app } = await startTests();
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

/** Requests of a known caller whose headers or ids try to become headers of the answer, or exceed a limit. */
const attacks: Readonly<
  Record<string, readonly [line: string, header: string, statuses: readonly number[]]>
> = {
  'line feeds in an id': ['GET /api/projects/a%0d%0aset-cookie:%20b=c', 'x: y', [404]],
  'line feeds in a query': ['GET /api/environments?name=%0d%0aset-cookie:%20b', 'x: y', [200]],
  'a NUL character in an id': ['GET /api/projects/a%00', 'x: y', [400, 404]],
  'a NUL character in a header': ['GET /api/projects', 'x-request-id: a\0b', [400]],
  'a carriage return in a header': ['GET /api/projects', 'if-none-match: "a"\rset-cookie: b', [400]],
  'a line feed in a header': ['GET /api/projects', 'if-none-match: "a"\nset-cookie: b', [200, 400]],
  'a control character in a key': ['POST /api/projects', 'idempotency-key: a\u0001', [400]],
  'a character in Latin 1 in a key': ['POST /api/projects', 'idempotency-key: \xe4', [400]],
  'a header name with a blank': ['GET /api/projects', 'set cookie: b', [400]],
  'an id of 2 KB': [`GET /api/projects/${'a'.repeat(2_000)}`, 'x: y', [404, 414]],
  'an address of 20 KB': [`GET /api/projects?x=${'a'.repeat(20_000)}`, 'x: y', [431]],
  'a header of 20 KB': ['GET /api/projects', `x: ${'y'.repeat(20_000)}`, [431]],
  'many headers of 20 KB together': [
    'GET /api/projects',
    Array.from({ length: 400 }, (_, index) => `x-${index}: ${'y'.repeat(50)}`).join('\r\n'),
    [431],
  ],
  'a percent sign alone': ['GET /api/projects/%', 'x: y', [400]],
  'an unknown method of a known path': ['PROPFIND /api/projects', 'x: y', [405]],
  'a method that needs a type': ['QUERY /api/projects', 'x: y', [405]],
  'a method of diagnosis': ['TRACE /api/projects', 'x: y', [405]],
  'a method of an unknown path': ['PROPFIND /api/nothing', 'x: y', [404]],
  'an address with a host': ['GET http://elsewhere/api/nothing', 'x: y', [400, 404]],
  'the server as a whole': ['OPTIONS *', 'x: y', [400, 404]],
  'another protocol': ['GET /api/nothing', 'connection: upgrade\r\nupgrade: websocket', [404]],
  'HTML alone accepted': ['GET /api/nothing', 'accept: text/html', [404]],
  'a form': [
    'POST /api/projects',
    'content-type: application/x-www-form-urlencoded\r\ncontent-length: 8\r\n\r\nname=abc',
    [415],
  ],
};

for (const [name, [line, header, expected]] of Object.entries(attacks))
  test(`a request with ${name} gets one answer in JSON, and no header of its own making`, async () => {
    const close = header.includes('connection') ? '' : 'connection: close\r\n';
    const credentials = `authorization: ${basic(app.admin)}`;
    const answer = await exchange(`${line} HTTP/1.1\r\nhost: x\r\n${credentials}\r\n${close}${header}${end}`);
    const [head = '', body = ''] = answer.split(end);
    assert.ok(expected.includes(statuses(answer)[0] ?? 0), answer.slice(0, 500));
    assert.equal(statuses(answer).length, 1, answer);
    assert.match(head, /content-type: application\/json; charset=utf-8/i);
    assert.doesNotMatch(head, /^set-cookie/im);
    if (!answer.startsWith('HTTP/1.1 200')) checkValue(ErrorBody, JSON.parse(body), name);
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

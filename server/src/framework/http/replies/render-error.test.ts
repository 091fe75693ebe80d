import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { ErrorBody, type ErrorCode, errorStatus } from '#contract/schema/errors.ts';
import { checkValue } from '../../../../testing/check-reply.ts';
import { startTests } from '../../../../testing/start.ts';

const { app } = await startTests();
const port = Number(new URL(await app.listen()).port);

/** Sends bytes as they are. @returns status line and body of the answer */
async function sendRaw(bytes: string): Promise<{ statusLine: string; body: unknown }> {
  const socket = connect(port, '127.0.0.1');
  socket.write(bytes);
  const answer = await text(socket);
  const [head = '', body = ''] = answer.split('\r\n\r\n');
  return { statusLine: head.split('\r\n')[0] ?? '', body: JSON.parse(body) };
}

test('bytes that are not HTTP are answered in the form of every other error', async () => {
  const cases: [bytes: string, status: RegExp, message: RegExp][] = [
    ['nonsense\r\n\r\n', / 400 /, /not valid HTTP/],
    ['FETCH /api/environments HTTP/1.1\r\nhost: x\r\n\r\n', / 400 /, /not valid HTTP/],
    ['GET / HTTP/1.1\r\nhost: x\r\nno colon\r\n\r\n', / 400 /, /not valid HTTP/],
    ['POST / HTTP/1.1\r\nhost: x\r\ncontent-length: many\r\n\r\n', / 400 /, /not valid HTTP/],
    ['GET / HTTP/1.1\r\nconnection: close\r\n\r\n', / 400 /, /header Host is required/],
    ['CONNECT example.com:443 HTTP/1.1\r\nhost: x\r\n\r\n', / 400 /, /not valid HTTP/],
    [
      'GET /api/projects HTTP/1.1\r\nhost: x\r\nexpect: a-miracle\r\nconnection: close\r\n\r\n',
      / 401 /,
      /credentials/,
    ],
    [`GET / HTTP/1.1\r\nhost: x\r\nx: ${'y'.repeat(100_000)}\r\n\r\n`, / 431 /, /headers .* too large/],
  ];
  for (const [bytes, status, message] of cases) {
    const { statusLine, body } = await sendRaw(bytes);
    assert.match(statusLine, status, bytes.slice(0, 40));
    checkValue(ErrorBody, body, bytes.slice(0, 40));
    assert.match(statusLine, new RegExp(` ${errorStatus[(body as ErrorBody).code as ErrorCode]} `));
    assert.match((body as ErrorBody).message, message);
  }
});

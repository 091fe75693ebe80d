import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorCode, isBrokenConnection, isTemporary } from './temporary-errors.ts';

const withCode = (code: string) => Object.assign(new Error(code), { code });
const fetchFailed = (cause: unknown) => new TypeError('fetch failed', { cause });

test('an error of fetch is temporary if its innermost code is', () => {
  assert.equal(isTemporary(fetchFailed(withCode('ECONNREFUSED'))), true);
  assert.equal(isTemporary(fetchFailed(new AggregateError([withCode('EHOSTUNREACH')]))), true);
  assert.equal(isTemporary(fetchFailed(withCode('CERT_HAS_EXPIRED'))), false);
  assert.equal(isTemporary(fetchFailed(withCode('ENOTFOUND'))), false);
  assert.equal(errorCode(fetchFailed(new AggregateError([withCode('EPIPE')]))), 'EPIPE');
});

test('a status decides unless it is 0, which leaves it to the cause', () => {
  const refusal = (status: number, cause?: Error) =>
    Object.assign(new Error('refused', { cause }), { status });
  assert.deepEqual(
    [400, 401, 404, 408, 409, 429, 500, 503].filter((status) => isTemporary(refusal(status))),
    [408, 429, 500, 503],
  );
  assert.equal(isTemporary(refusal(0, withCode('ECONNRESET'))), true);
  assert.equal(isTemporary(refusal(0, withCode('SELF_SIGNED_CERT_IN_CHAIN'))), false);
  assert.equal(isTemporary(refusal(0)), true, 'browsers give no reason');
});

test('a response that cannot be parsed is not a temporary failure', () => {
  assert.equal(isTemporary(new SyntaxError('Unexpected token')), false);
});

test('a refused connection is not a broken one: the request was not read', () => {
  assert.equal(isBrokenConnection(fetchFailed(withCode('ECONNRESET'))), true);
  assert.equal(isBrokenConnection(fetchFailed(withCode('ECONNREFUSED'))), false);
});

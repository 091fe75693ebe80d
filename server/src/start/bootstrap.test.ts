import assert from 'node:assert/strict';
import { test } from 'node:test';
import { basic } from '../testing/client.ts';
import { testApp } from '../testing/app.ts';
import { builtInAgentKey, renewBuiltInSecret } from './bootstrap.ts';

test('each service on one database has a secret for its own agent, renewed without the others', async () => {
  const app = await testApp();
  const isRight = async (secret: string) => {
    const headers = { authorization: basic({ id: builtInAgentKey, secret }), 'content-type': 'application/json' };
    return (await app.app.inject({ method: 'POST', url: '/agent/v1/register', headers, payload: '{}' })).statusCode !== 401;
  };
  const first = await renewBuiltInSecret(app.context, null);
  const second = await renewBuiltInSecret(app.context, null);
  assert.deepEqual([await isRight(first), await isRight(second), await isRight('another')], [true, true, false]);
  const renewed = await renewBuiltInSecret(app.context, first);
  assert.deepEqual([await isRight(first), await isRight(second), await isRight(renewed)], [false, true, true]);
});

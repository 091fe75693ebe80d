import assert from 'node:assert/strict';
import { createSecretKey, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { sql } from 'kysely';
import { testApp } from '../../testing/app.ts';
import { basic } from '../../testing/client.ts';
import { createKeyHash } from '../ground/secrets/api-key-hash.ts';
import type { KeyRing, SealingKey } from '../ground/secrets/key-ring.ts';
import { listSecretHashes } from '../rows/agents/secret-store.ts';
import { bootstrap, builtInAgentKey, renewBuiltInSecret } from './bootstrap.ts';

test('each service on one database has a secret for its own agent, renewed without the others', async () => {
  const app = await testApp();
  const isRight = async (secret: string) => {
    const headers = {
      authorization: basic({ id: builtInAgentKey, secret }),
      'content-type': 'application/json',
    };
    return (
      (await app.app.inject({ method: 'POST', url: '/agent/v1/register', headers, payload: '{}' }))
        .statusCode !== 401
    );
  };
  const first = await renewBuiltInSecret(app.context, null);
  const second = await renewBuiltInSecret(app.context, null);
  assert.deepEqual(
    [await isRight(first), await isRight(second), await isRight('another')],
    [true, true, false],
  );
  const renewed = await renewBuiltInSecret(app.context, first);
  assert.deepEqual(
    [await isRight(first), await isRight(second), await isRight(renewed)],
    [false, true, true],
  );
});

test('the secret of the last start is invalid also after the sealing key was rotated', async () => {
  const { context } = await testApp();
  const key = (): SealingKey => ({ id: randomBytes(4), key: createSecretKey(randomBytes(32)) });
  const former = key();
  const hashed = (...keys: KeyRing['keys']) => ({ ...context, keyHash: createKeyHash({ file: '', keys }) });
  const before = await renewBuiltInSecret(hashed(former), null);
  const rotated = hashed(key(), former);
  const now = await renewBuiltInSecret(rotated, before);
  const known = await listSecretHashes(context.db, builtInAgentKey);
  const isKnown = (secret: string) =>
    known.some(({ secret_hmac: hash }) => rotated.keyHash.matches(secret, hash));
  assert.deepEqual([isKnown(before), isKnown(now)], [false, true]);
});

test('one of two services that start on an empty database creates the first key, and the other finds it', async () => {
  const { context } = await testApp();
  await sql`truncate app_user, organization, api_key, agent cascade`.execute(context.db);
  const made = await Promise.all([bootstrap(context, null), bootstrap(context, null)]);
  assert.equal(made.filter((key) => key !== null).length, 1);
  const keys = await context.db.selectFrom('api_key').select('id').execute();
  assert.equal(keys.length, 1);
});

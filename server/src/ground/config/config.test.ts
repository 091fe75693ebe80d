import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSettings, SettingsError } from './config.ts';

test('a bootstrap key without its secret is refused', () => {
  assert.throws(() => readSettings({ ENVARIUM_BOOTSTRAP_API_KEY: 'key' }), SettingsError);
  const settings = readSettings({
    ENVARIUM_BOOTSTRAP_API_KEY: 'key',
    ENVARIUM_BOOTSTRAP_API_SECRET: 'secret'.repeat(6),
  });
  assert.equal(settings.bootstrapApiKey, 'key');
});

test('a user id of runs is refused for the database, which a run could then read', () => {
  const read = (uid: number) => readSettings({ ENVARIUM_DATABASE_UID: String(uid) }).databaseUid;
  assert.throws(() => read(58_000), /ENVARIUM_DATABASE_UID is 58000, one of the user ids for runs/);
  assert.throws(() => read(58_999), SettingsError);
  assert.equal(read(59_000), 59_000);
});

test('a bootstrap secret that is short enough to be guessed is refused without being printed', () => {
  const read = (secret: string) =>
    readSettings({ ENVARIUM_BOOTSTRAP_API_KEY: 'key', ENVARIUM_BOOTSTRAP_API_SECRET: secret });
  assert.throws(() => read('planted'.repeat(4)), {
    message: 'ENVARIUM_BOOTSTRAP_API_SECRET must be a text of at least 32 characters.',
  });
  assert.equal(read('x'.repeat(32)).bootstrapApiSecret?.reveal().length, 32);
});

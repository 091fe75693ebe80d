import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSettings, SettingsError } from './config.ts';

test('a bootstrap key without its secret is refused', () => {
  assert.throws(() => readSettings({ ENVARIUM_BOOTSTRAP_API_KEY: 'key' }), SettingsError);
  const settings = readSettings({
    ENVARIUM_BOOTSTRAP_API_KEY: 'key',
    ENVARIUM_BOOTSTRAP_API_SECRET: 'secret',
  });
  assert.equal(settings.bootstrapApiKey, 'key');
});

import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { BadCall } from './exit-codes.ts';
import {
  configFileOf,
  isReadableByOthers,
  readConfigFile,
  requireLogin,
  resolveSettings,
  type StoredLogin,
  writeConfigFile,
} from './settings.ts';

const stored: StoredLogin = {
  apiUrl: 'http://one.test:3000',
  apiKey: 'file-key',
  apiSecret: 'file-secret',
  organizationId: 'file-organization',
};

async function folder() {
  const path = await mkdtemp(join(tmpdir(), 'envarium-cli-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

describe('settings of the command line', () => {
  it('settings come from flags, then the environment, then the file', () => {
    const environment = {
      ENVARIUM_API_URL: 'http://two.test',
      ENVARIUM_API_KEY: 'environment-key',
      ENVARIUM_API_SECRET: 'environment-secret',
    };
    const flags = { apiUrl: 'http://three.test', apiKey: 'flag-key' };
    assert.deepEqual(resolveSettings(flags, environment, stored), {
      ...flags,
      apiSecret: 'environment-secret',
      organizationId: undefined,
    });
    assert.equal(resolveSettings({}, environment, stored).apiKey, 'environment-key');
    assert.deepEqual(resolveSettings({}, { ENVARIUM_API_URL: '' }, stored), stored);
  });

  it('the key in the file is sent only to the address in the file, in any notation', () => {
    const elsewhere = resolveSettings({ apiUrl: 'http://other.test' }, {}, stored);
    assert.deepEqual(elsewhere, {
      apiUrl: 'http://other.test',
      apiKey: undefined,
      apiSecret: undefined,
      organizationId: undefined,
    });
    assert.equal(
      resolveSettings({ apiUrl: 'http://one.test:3000/api/' }, {}, stored).apiSecret,
      'file-secret',
    );
  });

  it('the secret in the file is sent only with the key in the file', () => {
    assert.equal(resolveSettings({ apiKey: 'another' }, {}, stored).apiSecret, undefined);
    assert.equal(resolveSettings({ apiKey: 'file-key' }, {}, stored).apiSecret, 'file-secret');
  });

  it('an invalid address is reported without its password', () => {
    assert.throws(() => resolveSettings({}, { ENVARIUM_API_URL: 'one.test' }, null), {
      name: 'BadCall',
      message: /^ENVARIUM_API_URL must be an http/,
    });
    const withPassword = () => resolveSettings({ apiUrl: 'http://me:hidden@one.test' }, {}, null);
    assert.throws(
      withPassword,
      (error: Error) => error.message.startsWith('--api-url') && !error.message.includes('hidden'),
    );
  });

  it('missing settings are named, and a login is used only for its own service', () => {
    assert.throws(() => requireLogin({ apiUrl: 'http://one.test', apiKey: 'key' }, null), {
      message: /ENVARIUM_API_SECRET\) is missing.*envarium login/,
    });
    assert.throws(() => requireLogin({ apiUrl: 'http://two.test' }, stored), {
      message: /"file-key" for http:\/\/one\.test:3000/,
    });
  });
});

describe('config file', () => {
  it('the config file is where its setting says, or in the config folder of the user', () => {
    assert.equal(configFileOf({ ENVARIUM_CONFIG_FILE: '/a/b.json', HOME: '/h' }), '/a/b.json');
    assert.equal(configFileOf({ XDG_CONFIG_HOME: '/x', HOME: '/h' }), '/x/envarium/config.json');
    assert.equal(configFileOf({ HOME: '/h' }), '/h/.config/envarium/config.json');
  });

  it('the config file is read as it was written, is private, and replaces a readable one', async () => {
    await using place = await folder();
    const file = join(place.path, 'new folder', 'config.json');
    assert.equal(await readConfigFile(file), null);
    await writeConfigFile(file, stored);
    await writeFile(file, '{}', { mode: 0o644 });
    await writeConfigFile(file, stored);
    assert.deepEqual(await readConfigFile(file), stored);
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    assert.equal((await stat(join(place.path, 'new folder'))).mode & 0o777, 0o700);
    assert.equal(await isReadableByOthers(file), false);
    assert.deepEqual(await readdir(join(place.path, 'new folder')), ['config.json']);
  });

  it('the config file is refused unless login has written it', async () => {
    await using place = await folder();
    const file = join(place.path, 'config.json');
    for (const text of [
      '{',
      'null',
      '{"apiUrl": "http://one.test"}',
      '{"apiUrl": "u", "apiKey": "k", "apiSecret": 1}',
    ]) {
      await writeFile(file, text);
      await assert.rejects(
        readConfigFile(file),
        (error: Error) => error instanceof BadCall && error.message.includes(file),
      );
    }
  });
});

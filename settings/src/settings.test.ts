import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { allPrograms } from '#protocol/tools/index.ts';
import { isSigned, mirrorSettingNames } from '#protocol/tools/programs/program.ts';
import { agentSettings } from './agent.ts';
import { cliSettings } from './cli.ts';
import { environmentOf } from './declaration.ts';
import { settingsPage } from './pages.ts';
import { serverSettings } from './server.ts';
import { sharedSettings } from './server-and-agent.ts';
import { readProgramSettings, SettingsError } from './settings.ts';

function problemsOf(environment: Record<string, string>): readonly string[] {
  try {
    readProgramSettings(serverSettings, environment);
  } catch (error) {
    assert.ok(error instanceof SettingsError);
    return error.problems;
  }
  return [];
}

test('every default of every program is a value that its own setting allows', () => {
  const settings = readProgramSettings(serverSettings, {});
  assert.equal(settings.host, '127.0.0.1');
  assert.equal(settings.port, 3000);
  assert.equal(settings.dataFolder, resolve('data'));
  assert.deepEqual(settings.gitHttpHosts, []);
  assert.equal(settings.builtInAgent, true);
  assert.equal(settings.baseUrl, undefined);
  readProgramSettings(agentSettings, {});
  readProgramSettings(cliSettings, {});
});

test('values are read as what they mean', () => {
  const settings = readProgramSettings(serverSettings, {
    ENVARIUM_PORT: '0',
    ENVARIUM_BASE_URL: 'https://iac.example.org/base/',
    ENVARIUM_GIT_HTTP_HOSTS: 'Git.local, 10.0.0.7:8080',
    ENVARIUM_GIT_LOCAL_PATHS: '/srv/git/,/home/a b/git',
    ENVARIUM_BUILT_IN_AGENT: 'false',
    ENVARIUM_UNKNOWN_FIELDS: 'ignore',
    ENVARIUM_HOST: '',
  });
  assert.equal(settings.port, 0);
  assert.equal(settings.baseUrl, 'https://iac.example.org/base');
  assert.deepEqual(settings.gitHttpHosts, ['git.local', '10.0.0.7:8080']);
  assert.deepEqual(settings.gitLocalPaths, ['/srv/git', '/home/a b/git']);
  assert.equal(settings.builtInAgent, false);
  assert.equal(settings.unknownFields, 'ignore');
  assert.equal(settings.host, '127.0.0.1');
});

test('a malformed value is refused with its name and what is allowed, all of them at once', () => {
  const problems = problemsOf({
    ENVARIUM_PORT: '70000',
    ENVARIUM_BUILT_IN_AGENT: 'yes',
    ENVARIUM_GIT_LOCAL_PATHS: 'relative',
    ENVARIUM_RATE_LIMIT: '1e3',
  });
  assert.equal(problems.length, 4);
  assert.ok(problems.includes('ENVARIUM_PORT must be a whole number from 0 to 65535, not "70000".'));
  assert.ok(problems.includes('ENVARIUM_BUILT_IN_AGENT must be true or false, not "yes".'));
});

test('a name that no program declares is refused, one of another program is not', () => {
  assert.match(problemsOf({ ENVARIUM_PROT: '1' }).join(), /^ENVARIUM_PROT is not a setting of Envarium/);
  assert.deepEqual(problemsOf({ ENVARIUM_API_KEY: 'k', ENVARIUM_SPOOL_DIR: '/x', OTHER: 'y' }), []);
});

test('a secret comes from the environment or a file, and is never shown', () => {
  const folder = mkdtempSync(join(tmpdir(), 'settings '));
  try {
    const file = join(folder, 'secret');
    const secret = 'planted-value'.repeat(3);
    writeFileSync(file, `${secret}\n`);
    const settings = readProgramSettings(serverSettings, { ENVARIUM_BOOTSTRAP_API_SECRET_FILE: file });
    assert.equal(settings.bootstrapApiSecret?.reveal(), secret);
    assert.doesNotMatch(
      JSON.stringify(settings) + inspect(settings) + String(settings.bootstrapApiSecret),
      /planted-value/,
    );
    assert.match(
      problemsOf({ ENVARIUM_BOOTSTRAP_API_SECRET_FILE: file, ENVARIUM_BOOTSTRAP_API_SECRET: 'x' }).join(),
      /both set/,
    );
    assert.match(
      problemsOf({ ENVARIUM_BOOTSTRAP_API_SECRET_FILE: join(folder, 'none') }).join(),
      /cannot be read/,
    );
    assert.doesNotMatch(problemsOf({ DATABASE_URL: 'mysql://u:planted-value@h/d' }).join(), /planted-value/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('the settings page lists every setting once', () => {
  const page = settingsPage();
  for (const table of [serverSettings, agentSettings, cliSettings]) {
    for (const one of Object.values(table)) assert.match(page, new RegExp(`\\b${one.name}\\b`));
  }
  assert.equal(page.split('\n').filter((line) => line.startsWith('| `ENVARIUM_WORK_DIR`')).length, 1);
});

test('the settings of the built-in agent can be passed on and read again', () => {
  const environment = {
    ENVARIUM_AGENT_CONCURRENCY: '3',
    ENVARIUM_PROVIDER_CACHE: 'false',
    ENVARIUM_PROVIDER_MIRROR: '/srv/mirror',
    ENVARIUM_TERRAFORM_CLI_CONFIG: 'credentials "x" {}',
    ENVARIUM_TOOL_MIRROR_OPENTOFU: 'https://name:word@mirror.example.org/tools/',
    ENVARIUM_TOOL_MIRROR_TERRAFORM: 'none',
  };
  const passed = environmentOf(sharedSettings, readProgramSettings(serverSettings, environment));
  const again = environmentOf(sharedSettings, readProgramSettings(agentSettings, passed));
  assert.deepEqual(again, passed);
  for (const [name, value] of Object.entries(environment)) assert.equal(passed[name], value);
});

test('what is not signed comes over https, from this machine or not at all', () => {
  const read = (name: string, value: string) => readProgramSettings(agentSettings, { [name]: value });
  for (const value of ['https://mirror.example/x', 'http://127.0.0.1:8080/x', 'http://localhost', 'none'])
    for (const word of ['HELM', 'KUBECTL', 'KUSTOMIZE', 'ANSIBLE'])
      read(`ENVARIUM_TOOL_MIRROR_${word}`, value);
  read('ENVARIUM_TOOL_MIRROR_TERRAFORM', 'http://mirror.example/x');
  assert.equal(read('ENVARIUM_TOOL_MIRROR_ANSIBLE', '/srv/wheels/').ansibleMirror?.url, '/srv/wheels');
  for (const [word, value] of [
    ['HELM', 'http://mirror.example'],
    ['KUBECTL', '/srv/kubectl'],
    ['ANSIBLE', 'http://name:hunter2@mirror.example'],
    ['ANSIBLE', 'wheels'],
  ] as const)
    assert.throws(
      () => read(`ENVARIUM_TOOL_MIRROR_${word}`, value),
      ({ message }: Error) =>
        /must be an https:\/\/ address \(http:\/\/ only on/.test(message) && !message.includes('hunter2'),
    );
});

test('all that is downloaded has a setting for its mirror, and where it is signed one for the key of that mirror', () => {
  const names = new Set(Object.values(sharedSettings).map((one) => one.name));
  for (const { name, release } of allPrograms) {
    if (release === null) continue;
    const { mirror, key } = mirrorSettingNames(release.word);
    assert.ok(names.has(mirror), name);
    assert.equal(names.has(key), isSigned(release), name);
  }
});

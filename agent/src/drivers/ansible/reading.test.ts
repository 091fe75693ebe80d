/** Files that the driver reads and writes, without Ansible. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { jobOf, treeFrom } from '../../../testing/driver-job.ts';
import { completedPaths, configurationFiles } from './configuration-file.ts';
import { ansibleDiagnostics, ansibleReason } from './diagnostics.ts';
import { filesOf, ownFiles } from './files.ts';
import { outputsOf } from './outputs.ts';
import { checkedPlan } from './plan.ts';
import { playbookProgress } from './progress.ts';

const lines = (...events: object[]) =>
  Buffer.from(events.map((event) => `${JSON.stringify(event)}\n`).join(''));
const task = (id: string, more: object = {}) => ({
  event: 'task',
  task: id,
  name: 'Do it',
  action: 'ansible.builtin.copy',
  play: 'Play',
  ...more,
});
const result = (id: string, more: object = {}) => ({
  event: 'result',
  status: 'ok',
  host: 'web1',
  task: id,
  changed: true,
  ...more,
});
const end = { event: 'stats', hosts: { web1: {} }, custom: {}, hidden: [] };

test('tasks of the same name have addresses of their own, and those of roles name the role', () => {
  const { plan } = checkedPlan(
    lines(
      task('1'),
      result('1'),
      task('2'),
      result('2'),
      task('3', { role: 'own.web.site', action: 'own.web.page' }),
      result('3', { item: 'a' }),
      result('3', { hasItems: true }),
      end,
    ),
  );
  assert.deepEqual(
    plan.resourceChanges.map(({ path, providerName, moduleName }) => [path, providerName, moduleName]),
    [
      ['web1/Play/Do it', 'ansible.builtin', undefined],
      ['web1/Play/Do it (2)', 'ansible.builtin', undefined],
      ['web1/own.web.site/Do it (a)', 'own.web', 'own.web.site'],
    ],
  );
});

test('what was there before decides between create, update and delete', () => {
  const cases: [more: object, action: string][] = [
    [{ diff: [{ before: '', after: 'text' }] }, 'create'],
    [{ diff: { before: { state: 'absent' }, after: { state: 'file' } } }, 'create'],
    [{ diff: { before: { state: 'file' }, after: { state: 'absent' } } }, 'delete'],
    [{ state: 'absent' }, 'delete'],
    [{ diff: [{ before: 'old', after: 'new' }] }, 'update'],
    [
      {
        diff: [
          { before: '', after: '' },
          { before: { mode: '0600' }, after: { mode: '0644' } },
        ],
      },
      'update',
    ],
    [{ diff: [{ prepared: '+ line' }] }, 'update'],
    [{}, 'update'],
  ];
  for (const [more, action] of cases) {
    const { plan } = checkedPlan(lines(task('1'), result('1', more), end));
    assert.equal(plan.resourceChanges[0]?.action, action, JSON.stringify(more));
  }
});

test('differences become attributes, by the path that they are of', () => {
  const diff = [
    { before: 'a\n', after: 'b\n', before_header: '/etc/motd', after_header: '/x/ansible-local-1/tmp' },
    { before: { mode: '0600', path: '/etc/motd' }, after: { mode: '0644', path: '/etc/motd' } },
    { prepared: '-x\n+y\n' },
  ];
  const { plan } = checkedPlan(lines(task('1'), result('1', { diff }), end));
  assert.deepEqual(plan.resourceChanges[0]?.attributes, [
    { name: '/etc/motd', before: 'a\n', after: 'b\n' },
    { name: 'mode', before: '0600', after: '0644' },
    { name: 'difference', after: '-x\n+y\n' },
  ]);
});

test('a check without an end is an error and not an empty plan', () => {
  assert.throws(() => checkedPlan(undefined), /has reported no end/);
  assert.throws(() => checkedPlan(lines(task('1'), result('1'))), /has reported no end/);
  assert.throws(() => checkedPlan(lines({ ...end, lost: 2 })), /could not report 2 of its results/);
});

test('lines that are cut off, or that another program wrote, are skipped', () => {
  const bytes = Buffer.concat([
    Buffer.from('null\n[]\nnonsense\n'),
    lines(task('1'), result('1')),
    Buffer.from('{"ev'),
  ]);
  const reader = playbookProgress();
  const found = Array.from(bytes).flatMap((byte) => reader.read(Uint8Array.of(byte)));
  assert.deepEqual(found, [
    {
      address: 'web1/Play/Do it',
      provider: 'ansible.builtin',
      type: 'ansible.builtin.copy',
      name: 'Do it',
      moduleName: '',
      status: 'done',
      action: 'update',
    },
  ]);
});

test('failures of the playbook are failed resources, ignored ones are not', () => {
  const read = (more: object) => playbookProgress().read(lines(task('1'), result('1', more)))[0]?.status;
  assert.equal(read({ status: 'failed', changed: false }), 'failed');
  assert.equal(read({ status: 'unreachable', changed: false }), 'failed');
  assert.equal(read({ status: 'failed', changed: false, ignored: true }), 'done');
  assert.equal(read({ status: 'skipped', changed: false }), 'done');
});

test('statistics of the run are outputs, with their types', () => {
  const custom = { text: 'a', number: 1, flag: true, list: [1], map: { a: 1 }, nothing: null };
  const { outputs, resourceCount } = outputsOf(lines({ ...end, custom, hidden: ['text'] }));
  assert.equal(resourceCount, 1);
  assert.deepEqual(
    Object.entries(outputs ?? {}).map(([name, { type, sensitive }]) => [name, type, sensitive]),
    [
      ['text', 'string', true],
      ['number', 'number', false],
      ['flag', 'bool', false],
      ['list', 'list', false],
      ['map', 'object', false],
      ['nothing', 'null', false],
    ],
  );
  assert.deepEqual(
    outputsOf(readFileSync(join(import.meta.dirname, '__fixtures__/applied-2.19.14.events.jsonl'))),
    {
      outputs: { site_folder: { value: '/srv/site-test', sensitive: false, type: 'string' } },
      resources: [{ provider: 'ansible', type: 'host', name: 'localhost', moduleName: '' }],
      resourceCount: 1,
    },
  );
});

async function limitLines(value: string): Promise<string[] | undefined> {
  const environment = [{ name: 'ANSIBLE_CLI_limit', value, isSensitive: false }];
  const job = jobOf({ tool: 'ansible', type: 'task', variables: { environment, terraform: [] } });
  const files = await filesOf({ job, tree: treeFrom({}) } as unknown as Parameters<typeof filesOf>[0]);
  return files
    .find(({ name }) => name === ownFiles.limit)
    ?.content.trimEnd()
    .split('\n');
}

test('a limit in a file selects the hosts that it selects as an argument', async () => {
  const cases: Record<string, string[]> = {
    web: ['web'],
    'web,db': ['web', 'db'],
    'web:!two': ['web', '!two'],
    'web:&prod:!x': ['web', '&prod', '!x'],
    'web[1:3]': ['web[1:3]'],
    'web[1:3]:db': ['web[1:3]', 'db'],
    '2001:db8::1': ['2001:db8::1'],
    '~web.*': ['~web.*'],
  };
  for (const [text, expected] of Object.entries(cases))
    assert.deepEqual(await limitLines(text), expected, text);
});

test('patterns of hosts with open brackets are split at once', async () => {
  assert.deepEqual(await limitLines('['.repeat(1_000_000)), ['']);
  assert.deepEqual(await limitLines('web[0:2]:!db[1]:[a'), ['web[0:2]', '!db[1]', 'a']);
});

async function configured(files: Record<string, string>, environment: Record<string, string> = {}) {
  const variables = Object.entries(environment).map(([name, value]) => ({ name, value, isSensitive: false }));
  const job = jobOf({ tool: 'ansible', variables: { environment: variables, terraform: [] } });
  const [file] = await configurationFiles({ job, tree: treeFrom(files) }, 'sub/site.yml');
  return { name: file?.name, lines: file?.content.split('\n').filter((line) => line !== '') };
}

test('without a configuration of the code, the run has one of its own', async () => {
  assert.deepEqual(await configured({ 'hosts.yml': '' }), {
    name: 'envarium.ansible.cfg',
    lines: [
      '[defaults]',
      'inventory = hosts.yml',
      'callback_plugins = .envarium/callback',
      'roles_path = .envarium/roles',
      'collections_path = .envarium/collections:sub/collections',
    ],
  });
  const none = await configured({});
  assert.ok(none.lines?.includes('inventory = .envarium/no-hosts'));
});

test('the configuration of the code is completed, in its place and with its paths', async () => {
  const text = `# Ours
[ssh_connection]
roles_path = not/a/default
[defaults]
Inventory: lists/all ; all of them
roles_path = first:
    second
callback_plugins=plugins
forks = 7

[colors]
inventory = red
`;
  assert.deepEqual(await configured({ 'settings/own.cfg': text }, { ANSIBLE_CONFIG: 'settings/own.cfg' }), {
    name: 'settings/envarium.ansible.cfg',
    lines: [
      '# Ours',
      '[ssh_connection]',
      'roles_path = not/a/default',
      '[defaults]',
      'inventory = lists/all',
      'callback_plugins = ../.envarium/callback:plugins',
      'roles_path = ../.envarium/roles:first:second',
      'collections_path = ../.envarium/collections:../sub/collections',
      'forks = 7',
      '[colors]',
      'inventory = red',
    ],
  });
  await assert.rejects(
    configured({ 'ansible.cfg': '[defaults]\ninventory = localhost,\n' }),
    /^Error: inventory in the configuration of Ansible: an empty path would be the whole folder/,
  );
  await assert.rejects(
    configured({}, { ANSIBLE_CONFIG: 'none.cfg' }),
    /^Error: ANSIBLE_CONFIG: the repository has no such file/,
  );
});

test('options are added to the settings to which the command line adds them', async () => {
  const options = {
    ANSIBLE_CLI_module_path: 'more:/opt/modules',
    ANSIBLE_CLI_tags: 'one',
    ANSIBLE_CLI_vault_id: 'a@b',
  };
  const usual = (await configured({}, options)).lines ?? [];
  assert.deepEqual(usual.slice(-5), [
    'collections_path = .envarium/collections:sub/collections',
    'library = more:/opt/modules:~/.ansible/plugins/modules:/usr/share/ansible/plugins/modules',
    'vault_identity_list = a@b',
    '[tags]',
    'run = one',
  ]);
  const text = '[tags]\nrun = two,\n  three\nskip = four\n[defaults]\nlibrary = own\nforks = 7\n';
  const { lines } = await configured(
    { 'settings/own.cfg': text },
    { ...options, ANSIBLE_CONFIG: 'settings/own.cfg' },
  );
  assert.deepEqual(lines?.slice(0, 4), ['[tags]', 'run = two,three,one', 'skip = four', '[defaults]']);
  assert.ok(lines?.includes('library = ../more:/opt/modules:own'), lines?.join('\n'));
  assert.equal(lines?.at(-1), 'forks = 7');
  assert.deepEqual(
    completedPaths({ ...options, ANSIBLE_LIBRARY: 'own', ANSIBLE_RUN_TAGS: 'two' }, '/folder'),
    { ANSIBLE_LIBRARY: 'more:/opt/modules:own', ANSIBLE_RUN_TAGS: 'two,one' },
  );
});

// Printed by ansible-galaxy 2.19.14 without network.
const noServer = 'https://nowhere.invalid/api';
const cause = `Unknown error when attempting to call Galaxy at '${noServer}': <urlopen error [Errno -2] Name or service not known>`;
const remedy =
  '\n\nThe server of roles and collections cannot be reached from this agent: check its network and proxy ' +
  '(HTTPS_PROXY, NO_PROXY), or name another server in ANSIBLE_GALAXY_SERVER or ansible.cfg.';

test('roles and collections that cannot be fetched name the cause', () => {
  const role = `[WARNING]: - own.role was NOT installed successfully: ${cause}
[ERROR]: - you can use --ignore-errors to skip failed roles and finish processing the list.
Starting galaxy role install process
`;
  assert.equal(ansibleReason(role), `- own.role was NOT installed successfully: ${cause}${remedy}`);
  const collection = `[WARNING]: Skipping Galaxy server https://nowhere.invalid. Got an unexpected error: ${cause}
[ERROR]: ${cause}

Unknown error when attempting to call Galaxy at '${noServer}'.

<<< caused by >>>

<urlopen error [Errno -2] Name or service not known>

Starting galaxy collection install process
Process install dependency map
`;
  assert.equal(ansibleReason(collection), `${cause}${remedy}`);
});

test('each failed host is an error of its own, and warnings are found', () => {
  const output = `[WARNING]: Ansible is being run in a world writable directory
[DEPRECATION WARNING]: The old way is deprecated.
[ERROR]: Task failed
\u001b[0;31mFailed hosts:\u001b[0m
\u001b[0;31m  a failed in task "b": c\u001b[0m
\u001b[0;31m    more\u001b[0m
\u001b[0;31m  d could not be reached in task "b": e\u001b[0m
\u001b[0;31m  This was check mode, which changes nothing\u001b[0m
`;
  assert.deepEqual(ansibleDiagnostics(output), [
    { severity: 'error', text: 'a failed in task "b": c\n  more' },
    { severity: 'error', text: 'd could not be reached in task "b": e' },
    { severity: 'warning', text: 'Ansible is being run in a world writable directory' },
    { severity: 'warning', text: 'The old way is deprecated.' },
  ]);
  assert.equal(
    ansibleReason(output),
    'a failed in task "b": c (and 1 more error)\n  more\nThis was check mode, which changes nothing',
  );
  assert.match(
    ansibleReason(output.replace('  This was', '  and 7 more hosts\n  This was')) ?? '',
    /^a failed in task "b": c \(and 8 more errors\)\n/,
  );
  assert.deepEqual(ansibleDiagnostics('ERROR! We were unable to read it\n'), [
    { severity: 'error', text: 'We were unable to read it' },
  ]);
});

test('the messages of Ansible explain a failure, of every version', () => {
  const cases: [output: string, message: string | null][] = [
    [
      'PLAY\n\u001b[0;31m[ERROR]: YAML parsing failed\u001b[0m\nOrigin: a.yml:1\n',
      'YAML parsing failed\nOrigin: a.yml:1',
    ],
    ['ERROR! We were unable to read it\n', 'We were unable to read it'],
    [
      '[ERROR]: Task failed\n\u001b[0;31mFailed hosts:\u001b[0m\n\u001b[0;31m  a failed in task "b": c\u001b[0m\n\u001b[0;31m    more\u001b[0m\n',
      'a failed in task "b": c\n  more',
    ],
    [
      '[ERROR]: Task failed: this one is ignored\nOrigin: a.yml:1\n[ERROR]: one\n\n[ERROR]: two\n',
      'one (and 1 more error)',
    ],
    ['[ERROR]: Task failed: no\n', 'Task failed: no'],
    ['all is well\n', null],
    [`ERROR! ${'x'.repeat(10_000)}`, `${'x'.repeat(4092)}…`],
  ];
  for (const [output, message] of cases) assert.equal(ansibleReason(output), message);
});

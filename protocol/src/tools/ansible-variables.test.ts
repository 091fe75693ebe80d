import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ansibleVariableProblem, readAnsibleVariables } from './ansible-variables.ts';

test('options become variables of Ansible, whatever their spelling', () => {
  const variables = readAnsibleVariables({
    ANSIBLE_CLI_limit: 'web',
    'ANSIBLE_CLI_skip-tags': 'slow',
    ANSIBLE_CLI_FORKS: '7',
    ANSIBLE_CLI_flush_cache: 'true',
    ANSIBLE_FORKS: '5',
  });
  assert.deepEqual(variables.environment, { ANSIBLE_FORKS: '7' });
  assert.deepEqual(variables.additions, { skip_tags: 'slow' }, 'added to what settings have');
  assert.equal(variables.limit, 'web');
  assert.equal(variables.flushesCache, true);
});

test('an inventory with a comma is a list of hosts, and nothing of it is a path', () => {
  const read = (value: string) => {
    const { hosts, environment } = readAnsibleVariables({ ANSIBLE_CLI_inventory: value });
    return { hosts, environment };
  };
  assert.deepEqual(read('localhost,'), { hosts: ['localhost'], environment: {} });
  assert.deepEqual(read('a, [::1]:22'), { hosts: ['a', '[::1]:22'], environment: {} });
  const path = { hosts: undefined, environment: { ANSIBLE_INVENTORY: 'lists/all' } };
  assert.deepEqual(read('lists/all'), path);
  assert.deepEqual(read(''), { hosts: undefined, environment: {} });
});

test('an option without a value on the command line is on for each spelling of true', () => {
  for (const [value, expected] of [
    ['true', true],
    ['Yes', true],
    ['1', true],
    ['no', false],
    ['', false],
  ] as const)
    assert.equal(readAnsibleVariables({ ANSIBLE_CLI_flush_cache: value }).flushesCache, expected, value);
});

test('variables that a run cannot have are refused by name, and no message has their value', () => {
  const planted = 'planted-value';
  const refused: [name: string, value: string, folder?: string][] = [
    ['ANSIBLE_CLI_nonsense', planted],
    ['ANSIBLE_CLI_module_path', `${planted}:`],
    ['ANSIBLE_CLI_tags', `${planted}\n[defaults]`],
    ['ANSIBLE_CLI_check', planted],
    ['ANSIBLE_CLI_limit', `@${planted}`],
    ['ANSIBLE_CLI_limit', `web,@${planted}`],
    ['ANSIBLE_CLI_inventory', `${planted}[1:3],`],
    ['ANSIBLE_CLI_inventory', `${planted} ansible_connection=local,`],
    ['ANSIBLE_CLI_inventory', ' , '],
    ['ANSIBLE_CLI_become', planted],
    ['ANSIBLE_CLI_flush-cache', planted],
    ['ANSIBLE_INVENTORY', `${planted},`, ''],
    ['ANSIBLE_INVENTORY', '', ''],
    ['ANSIBLE_CLI_extra_vars', planted],
    ['ANSIBLE_CLI_toString', planted],
    ['ANSIBLE_VAR_', planted],
    ['ANSIBLE_VAR_1a', planted],
    ['ENVARIUM_SKIP_ANSIBLE_CHECK', planted],
    ['ENVARIUM_ANSIBLE_PLAYBOOK', `/${planted}`],
    ['ENVARIUM_ANSIBLE_PLAYBOOK', `-${planted}`],
    ['ENVARIUM_ANSIBLE_PLAYBOOK', `{{ ${planted} }}`],
    ['ENVARIUM_ANSIBLE_DESTROY_PLAYBOOK', `../${planted}`, 'folder'],
    ['ENVARIUM_ANSIBLE_PLAYBOOK', `sub/../${planted}`],
    ['ANSIBLE_CONFIG', `../${planted}`, 'folder'],
    ['ANSIBLE_CONFIG', `/${planted}`, ''],
  ];
  for (const [name, value, folder] of refused) {
    const problem = ansibleVariableProblem(name, value, folder) ?? '';
    assert.ok(problem.startsWith(`${name}: `), name);
    assert.ok(!problem.includes(planted), name);
  }
});

test('all others are allowed', () => {
  for (const [name, value] of [
    ['ANSIBLE_CLI_limit', 'web'],
    ['ANSIBLE_CLI_inventory', 'localhost,'],
    ['ANSIBLE_CLI_inventory', '[::1]:22,b'],
    ['ANSIBLE_CLI_become', '${VALUE}'],
    ['ANSIBLE_INVENTORY', 'a.yml,b.yml'],
    ['ANSIBLE_VAR_a_1', 'x'],
    ['ENVARIUM_SKIP_ANSIBLE_CHECK', '${ENVARIUM_PROJECT_NAME}'],
    ['ENVARIUM_ANSIBLE_PLAYBOOK', 'sub/site.yml'],
    ['ANSIBLE_CONFIG', '/etc/ansible/ansible.cfg'],
    ['ANSIBLE_FORKS', '7'],
    ['OTHER', 'x'],
  ] as const)
    assert.equal(ansibleVariableProblem(name, value), null, name);
});

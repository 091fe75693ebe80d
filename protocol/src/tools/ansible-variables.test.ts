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
  assert.deepEqual(variables.environment, { ANSIBLE_SKIP_TAGS: 'slow', ANSIBLE_FORKS: '7' });
  assert.equal(variables.limit, 'web');
  assert.equal(variables.flushesCache, true);
});

test('variables that a run cannot have are refused by name, and no message has their value', () => {
  const planted = 'planted-value';
  const refused: [name: string, value: string, folder?: string][] = [
    ['ANSIBLE_CLI_nonsense', planted],
    ['ANSIBLE_CLI_check', planted],
    ['ANSIBLE_CLI_limit', `@${planted}`],
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
    ['ANSIBLE_VAR_a_1', 'x'],
    ['ENVARIUM_SKIP_ANSIBLE_CHECK', '${ENVARIUM_PROJECT_NAME}'],
    ['ENVARIUM_ANSIBLE_PLAYBOOK', 'sub/site.yml'],
    ['ANSIBLE_CONFIG', '/etc/ansible/ansible.cfg'],
    ['ANSIBLE_FORKS', '7'],
    ['OTHER', 'x'],
  ] as const)
    assert.equal(ansibleVariableProblem(name, value), null, name);
});

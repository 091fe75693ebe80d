/** Inventories and the hosts that plays match, with the real runner and the real Ansible. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ansibleStage, withAnsible } from '../../../testing/ansible-stage.ts';
import { expectResult, failureMessageOf } from '../../../testing/outcomes.ts';

test('a list of hosts runs on these hosts, and starts no file of the repository', withAnsible, async (t) => {
  const files = {
    'playbook.yml': `- hosts: all
  connection: local
  gather_facts: false
  tasks:
    - ansible.builtin.debug: {msg: "runs on {{ inventory_hostname }} port {{ ansible_port | default('none') }}"}
`,
    hosts: 'other\n',
    'script.sh': '#!/bin/sh\ntouch "$MARK"\necho "{}"\n',
  };
  const { setup, world, run, job } = ansibleStage(t, files, {
    environment: { ANSIBLE_CLI_inventory: 'one, two:2222,' },
  });
  const mark = join(world, 'started');
  const base = job();
  const environment = [...base.variables.environment, { name: 'MARK', value: mark, isSensitive: false }];
  setup.git('update-index', '--chmod=+x', 'script.sh');
  setup.git('commit', '-q', '-m', 'a program');
  const { log } = await expectResult(
    'planned',
    run({ ...base, variables: { ...base.variables, environment } }),
  );
  assert.match(log('ansible:check'), /runs on one port none/);
  assert.match(log('ansible:check'), /runs on two port 2222/);
  assert.doesNotMatch(log('ansible:check'), /runs on other/);
  assert.equal(existsSync(mark), false);
});

const play = (hosts: string, tasks = '    - ansible.builtin.debug: {msg: ran}\n') =>
  `- hosts: ${hosts}\n  connection: local\n  gather_facts: false\n  tasks:\n${tasks}`;

const failures: Record<
  string,
  { files: Record<string, string>; environment?: Record<string, string>; message: RegExp }
> = {
  'an inventory that does not exist': {
    files: { 'playbook.yml': play('localhost') },
    environment: { ANSIBLE_CLI_inventory: 'none.yml' },
    message: /inventory source .*none\.yml/,
  },
  'one of two inventories that cannot be read': {
    files: {
      'playbook.yml': play('one'),
      good: 'one\n',
      broken: '[web\nx\n',
      'ansible.cfg': '[defaults]\ninventory = good,broken\n',
    },
    message: /inventory source .*broken/,
  },
  'plays that match no host': {
    files: { 'playbook.yml': play('web') + play('db'), hosts: 'one\n' },
    message: /^No play matched a host, so that nothing was run: web, db\. Correct the inventory/,
  },
  'a limit outside of all plays': {
    files: { 'playbook.yml': play('web'), hosts: '[web]\none\n[db]\ntwo\n' },
    environment: { ANSIBLE_CLI_limit: 'db' },
    message: /^No play matched a host, so that nothing was run: web\./,
  },
};

for (const [name, { files, environment = {}, message }] of Object.entries(failures)) {
  test(`${name}: neither a success nor the absence of drift`, withAnsible, async (t) => {
    const { run, job } = ansibleStage(t, files, { environment });
    const { outcome, steps } = await expectResult('failed', run(job({ type: 'driftDetection' })));
    assert.match(outcome.error?.message ?? '', message);
    assert.doesNotMatch(outcome.error?.message ?? '', /SKIP_ANSIBLE_CHECK/);
    assert.equal(steps()['ansible:check'], 'FAIL');
  });
}

test('an apply that reaches no host fails, too', withAnsible, async (t) => {
  const environment = { ENVARIUM_SKIP_ANSIBLE_CHECK: 'true' };
  const { run, apply, job } = ansibleStage(t, { 'playbook.yml': play('web') }, { environment });
  const applied = await apply(await run(job()));
  assert.match(failureMessageOf(applied), /^No play matched a host/);
});

test('a play that matches no host, next to one that does, is a row of the plan', withAnsible, async (t) => {
  const files = { 'playbook.yml': play('one') + play('db'), hosts: 'one\n' };
  const { run, job } = ansibleStage(t, files);
  const { outcome } = await run(job());
  assert.deepEqual(outcome.planSummary, { added: 0, changed: 0, destroyed: 0, unknown: 1 });
  const [row] = outcome.plan?.resourceChanges ?? [];
  assert.equal(row?.path, 'db');
  assert.match(row?.actionReason ?? '', /matches no host/);
});

test('hosts and groups that a playbook makes for itself do not count as changes', withAnsible, async (t) => {
  const tasks = `    - ansible.builtin.add_host: {name: two, groups: made}
    - group_by: {key: own_group}
`;
  const files = { 'playbook.yml': play('one', tasks) + play('made') + play('other_group'), hosts: 'one\n' };
  const { run, job } = ansibleStage(t, files);
  const { outcome, log } = await run(job({ type: 'driftDetection' }));
  assert.match(log('ansible:check'), /changed: \[one\]/, 'Ansible itself calls them changes');
  assert.deepEqual(outcome.planSummary, { added: 0, changed: 0, destroyed: 0 });
  assert.equal(outcome.hasChanges, false);
});

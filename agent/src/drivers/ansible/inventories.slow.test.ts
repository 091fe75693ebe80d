/** Inventories and the hosts that plays match, with the real runner and the real Ansible. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ansibleStage, withAnsible } from '../../testing/ansible-stage.ts';

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
  const { outcome, log } = await run({ ...base, variables: { ...base.variables, environment } });
  assert.equal(outcome.result, 'planned', JSON.stringify(outcome));
  assert.match(log('ansible:check'), /runs on one port none/);
  assert.match(log('ansible:check'), /runs on two port 2222/);
  assert.doesNotMatch(log('ansible:check'), /runs on other/);
  assert.equal(existsSync(mark), false);
});

/** The programs that tasks can run, with the real runner and the real Ansible. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ansibleStage, withAnsible } from '../../../testing/ansible-stage.ts';

for (const isSandboxed of [false, true]) {
  const where = isSandboxed ? 'in a sandbox' : 'without a sandbox';
  test(`a task has all programs of Ansible, ${where}`, withAnsible, async (t) => {
    const { run, job } = ansibleStage(t, { hosts: 'one\n' }, { isSandboxed });
    const names = ['', '-config', '-doc', '-galaxy', '-inventory', '-playbook', '-vault'];
    const commands = names.map((name) => `ansible${name} --version | head -1`);
    const done = await run(
      job({ type: 'task', taskPayload: [...commands, 'ansible-inventory --list'].join('\n') }),
    );
    assert.equal(done.outcome.result, 'applied', JSON.stringify(done.outcome));
    const log = done.log('task:run');
    for (const name of names) assert.match(log, new RegExp(`^ansible${name} \\[core 2\\.19\\.14\\]`, 'm'));
    assert.match(log, /"one"/);
  });
}

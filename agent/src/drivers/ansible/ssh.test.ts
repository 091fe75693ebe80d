/** Real hosts over ssh, with the real runner in its sandbox and the real Ansible. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { temporaryFolder } from '../../../../tools/suite/temporary-folder.ts';
import { ansibleStage, withAnsible } from '../../../testing/ansible-stage.ts';
import { expectResult, failureMessageOf } from '../../../testing/outcomes.ts';
import { makeSshKey, missingSshServer, type SshServer, startSshServer } from '../../../testing/ssh-server.ts';
import { findProgram } from '../../processes/programs.ts';

const missingSandbox = findProgram('bwrap') === null ? 'needs bubblewrap' : false;
const withSsh = { skip: withAnsible.skip || missingSshServer || missingSandbox };

async function serve(): Promise<SshServer> {
  return startSshServer({ commands: { '/bin/sh': 'eval "exec $SSH_ORIGINAL_COMMAND"' } });
}

function stageFor(t: TestContext, server: SshServer, environment: Record<string, string>) {
  const folder = temporaryFolder(t, 'far-');
  const files = {
    'playbook.yml': `- name: Far away
  hosts: all
  gather_facts: false
  tasks:
    - name: Make a folder
      ansible.builtin.file: {path: "${folder}/made", state: directory}
`,
    hosts: `far ansible_host=127.0.0.1 ansible_port=${server.port} ansible_user=${server.user} ansible_python_interpreter=/usr/bin/python3\n`,
  };
  const stage = ansibleStage(t, files, {
    environment: { ANSIBLE_PIPELINING: 'true', ...environment },
    isSandboxed: true,
  });
  return { ...stage, folder };
}

test(
  'a host over ssh is planned and changed, with a key and known hosts from variables',
  withSsh,
  async (t) => {
    await using server = await serve();
    const { run, apply, job, folder } = stageFor(t, server, {
      ENVARIUM_ANSIBLE_PRIVATE_KEY: server.key.trimEnd(),
      ENVARIUM_ANSIBLE_KNOWN_HOSTS: server.knownHosts,
    });
    const planned = await expectResult('planned', run(job()));
    assert.deepEqual(planned.outcome.planSummary, { added: 1, changed: 0, destroyed: 0 });
    await expectResult('applied', apply(planned));
    assert.ok(existsSync(join(folder, 'made')));
  },
);

test('a host that no one knows, or that another key opens, cannot be reached', withSsh, async (t) => {
  await using server = await serve();
  const unknown = stageFor(t, server, { ENVARIUM_ANSIBLE_PRIVATE_KEY: server.key });
  const first = await unknown.run(unknown.job());
  assert.match(failureMessageOf(first), /^far could not be reached .*Host key verification failed/s);
  const otherStage = stageFor(t, server, {
    ENVARIUM_ANSIBLE_PRIVATE_KEY: makeSshKey().privateKey,
    ANSIBLE_HOST_KEY_CHECKING: 'false',
  });
  const second = await otherStage.run(otherStage.job());
  assert.match(failureMessageOf(second), /^far could not be reached .*Permission denied/s);
});

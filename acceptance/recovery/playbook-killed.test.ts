/** A playbook that is killed in the middle is started again only by a person. */
import assert from 'node:assert/strict';
import { chmod, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pythonProgram, withToolbox } from '../../tools/toolbox/places.ts';
import { linesIn } from '../journey/file-world.ts';
import { createEnvironment, deployAndEnd, homeOf, until, untilEnd } from '../runs.ts';
import { makeRepository, type RunningService, removeScratch, startService } from '../service.ts';
import { descendantsOf, runnerPid, sendSignal } from './processes.ts';

const playbook = `- name: Work
  hosts: localhost
  gather_facts: false
  tasks:
    - name: First
      ansible.builtin.file: {path: "{{ world }}/first", state: directory, mode: "0777"}
    - name: Slow
      ansible.builtin.shell: |
        umask 0
        echo "$PPID" >> "{{ world }}/tries"
        until [ -e "{{ world }}/gate" ]; do sleep 0.1; done
      when: not ansible_check_mode
`;

/** The playbook's first process, which started workers with the same command line. */
async function toolPid(service: RunningService, id: string): Promise<number> {
  const runner = await runnerPid(service, id);
  const all = (await descendantsOf(runner)).filter(({ command }) =>
    /python\S* \S*ansible-playbook/.test(command),
  );
  const first = all.find(({ parent }) => !all.some(({ pid }) => pid === parent));
  assert.ok(first, 'Ansible runs');
  return first.pid;
}

const cases = [
  { victim: 'tool', pidOf: toolPid, status: 'FAILURE', message: /ended by signal SIGKILL/ },
  {
    victim: 'runner',
    pidOf: runnerPid,
    status: 'INTERNAL_FAILURE',
    message: /was lost after it had started .*\. Check the log/,
  },
] as const;

async function worldOf(t: TestContext): Promise<string> {
  const world = await mkdtemp(join(tmpdir(), 'world-'));
  await chmod(world, 0o777);
  t.after(() => removeScratch(world));
  return world;
}

for (const { victim, pidOf, status, message } of cases)
  test(
    `after its ${victim} was killed, a playbook starts again only with the next deployment`,
    withToolbox('ansible'),
    async (t) => {
      const world = await worldOf(t);
      const programs = dirname(pythonProgram('ansible') ?? '');
      await using service = await startService({
        settings: { PATH: [programs, process.env.PATH].join(delimiter), ENVARIUM_ISOLATION: 'off' },
      });
      const { client } = service;
      const { path: repository } = await makeRepository(service.folder, 'code', { 'playbook.yml': playbook });
      const { id, deploymentId } = await createEnvironment(client, await homeOf(client), {
        repository,
        type: 'ansible',
        configurationChanges: [{ name: 'world', value: world, type: 1 }],
      });
      await until('the slow task', async () => (await linesIn(world, 'tries')) === 1);
      sendSignal(await pidOf(service, id), 'SIGKILL');
      const killed = await untilEnd(client, deploymentId, status);
      assert.match(killed.error?.message ?? '', message);
      await writeFile(join(world, 'gate'), '');
      const done = await deployAndEnd(client, id);
      assert.equal(done.status, 'SUCCESS', done.error?.message);
      assert.equal(await linesIn(world, 'tries'), 2, 'once by each deployment');
    },
  );

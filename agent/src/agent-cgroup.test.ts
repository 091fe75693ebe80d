import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { AgentSetup } from '../testing/agent-setup.ts';
import { delegatedFolder, groupsIn, withCgroup } from '../testing/cgroup.ts';
import { withBubblewrap, withTerraform } from '../testing/runner-setup.ts';
import { identifyProcess, isAlive, signalProcess, textOrEmpty } from './processes/proc.ts';
import { readRunner } from './spool/read-attempt.ts';

const slow = {
  'main.tf': `
resource "terraform_data" "slow" {
  provisioner "local-exec" { command = "exec sleep 600" }
}`,
};
const needs = withTerraform.skip ? withTerraform : withCgroup;

/** The processes of the only group with a command of this name in it. */
function membersWith(folder: string, command: string): number[] {
  const groups = groupsIn(folder).map((name) =>
    textOrEmpty(join(folder, name, 'cgroup.procs'))
      .split('\n')
      .filter(Boolean)
      .map(Number),
  );
  return (
    groups.find((pids) => pids.some((pid) => textOrEmpty(`/proc/${pid}/cmdline`).includes(command))) ?? []
  );
}

for (const isolation of ['auto', 'off'] as const)
  test(
    `a run whose runner and agent are killed ends with its control group (isolation: ${isolation})`,
    needs,
    async (t) => {
      // Its agents end before the groups are removed.
      const setup = await AgentSetup.create(t, slow);
      const folder = delegatedFolder(t);
      const settings = { ENVARIUM_RUN_CGROUP: folder, ENVARIUM_ISOLATION: isolation };
      const first = setup.startAgent(settings);
      setup.server.handOver = (attempt, outcome) =>
        outcome.result === 'planned' ? setup.applyJob(attempt, true) : null;
      setup.server.enqueue(setup.job());
      const applied = { jobId: 'job-2', attempt: 1 };
      await setup
        .until(() => membersWith(folder, 'sleep\u0000600').length > 0, 'the slow command')
        .catch((error: Error) => assert.fail(`${error.message}\n${first.log()}`));
      const members = membersWith(folder, 'sleep\u0000600').map((pid) => identifyProcess(pid));
      const runner = readRunner(setup.spool(applied));
      assert.ok(runner && members.some((one) => one?.pid === runner.pid));
      await first.kill('SIGKILL');
      signalProcess(runner, 'SIGKILL');
      const second = setup.startAgent(settings);
      assert.equal((await setup.outcomeOf(applied)).outcome?.isLost, true, second.log());
      assert.deepEqual(
        members.filter((one) => one !== null && isAlive(one)),
        [],
      );
      await setup.until(() => setup.spooled().length === 0, 'an empty spool');
      // Groups that are left belong to the runner that waits for the next run.
      await setup.until(() => groupsIn(folder).length === 1, groupsIn(folder).join());
      assert.deepEqual(setup.server.problems, []);
    },
  );

test('what a runner prepares before its first run belongs to its control group', needs, async (t) => {
  if (withBubblewrap.skip || process.getuid?.() !== 0) return t.skip('needs root and bubblewrap');
  const setup = await AgentSetup.create(t, {});
  const folder = delegatedFolder(t);
  setup.startAgent({ ENVARIUM_RUN_CGROUP: folder });
  await setup.until(() => membersWith(folder, 'tree-server').length > 0, 'the process that reads');
  const commands = membersWith(folder, 'tree-server').map((pid) => textOrEmpty(`/proc/${pid}/cmdline`));
  assert.ok(
    commands.some((command) => command.endsWith('\0runner\0')),
    commands.join('\n'),
  );
});

test('an agent whose control group cannot be used does not start, and says what to do', async (t) => {
  const setup = await AgentSetup.create(t, {});
  const agent = setup.startAgent({ ENVARIUM_RUN_CGROUP: setup.folder });
  assert.equal(await agent.ended, 1);
  assert.match(agent.log(), /ENVARIUM_RUN_CGROUP: .* is not a cgroup v2 folder\. Specify a cgroup v2 folder/);
});

/**
 * Each process of a run is killed once in plan and once in apply. Marks outside of any state tell what really
 * happened: nothing is done twice, and the next deployment continues from there.
 */
import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { Deployment } from '#contract/deployments/shapes.ts';
import { isTerminal } from '#contract/life-cycle/life-cycle.ts';
import { leaveMark, type Marks, startMarks } from './marks.ts';
import {
  makeRepository,
  type RunningService,
  scratchFolder,
  startService,
  removeScratch,
} from './service.ts';
import { toolsOfFamily } from './programs.ts';

const configuration = `variable "place" { type = string }

resource "terraform_data" "first" {
  provisioner "local-exec" {
    command = "${leaveMark('${var.place}', 'first')}"
  }
}

resource "terraform_data" "second" {
  depends_on = [terraform_data.first]
  provisioner "local-exec" {
    command = "${leaveMark('${var.place}', 'begin')} && ${leaveMark('${var.place}', 'end')}"
  }
}
`;

/** Waits at a gate before a plan, then is the real tool: same pid, so that a kill reaches it. */
const gated = (file: string) => `#!/bin/sh
if [ "$1" = plan ]; then ${leaveMark('"$ENVARIUM_TEST_PLACE"', 'plan')}; fi
exec ${file} "$@"
`;

async function until<T>(
  what: string,
  look: () => Promise<T | undefined | false | null>,
  seconds = 60,
): Promise<T> {
  const end = Date.now() + seconds * 1000;
  for (;;) {
    const found = await look().catch(() => undefined);
    if (found) return found;
    if (Date.now() > end) throw new Error(`Waited ${seconds} s in vain for ${what}`);
    await delay(50);
  }
}

async function text(file: string): Promise<string> {
  return readFile(file, 'utf8').catch(() => '');
}

async function childrenOf(pid: number): Promise<{ pid: number; command: string }[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async (name) => {
      const stat = await text(`/proc/${name}/stat`);
      const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
      return parent === pid
        ? [{ pid: Number(name), command: (await text(`/proc/${name}/cmdline`)).replaceAll('\0', ' ') }]
        : [];
    }),
  );
  return found.flat();
}

for (const { type, program, file, skip } of await toolsOfFamily())
  describe(`a killed process of a run of ${type}`, { skip }, () => {
    let folder: string;
    let service: RunningService;
    let settings: Record<string, string>;
    let marks: Marks;
    let projectId: string;
    let organizationId: string;

    before(async () => {
      folder = await scratchFolder();
      marks = await startMarks(['plan', 'begin']);
      const programs = join(folder, 'programs');
      await mkdir(programs);
      await writeFile(join(programs, program), gated(file), { mode: 0o755 });
      settings = {
        PATH: [programs, process.env.PATH].join(delimiter),
        ENVARIUM_BOOTSTRAP_API_SECRET: 'a'.repeat(43),
        ENVARIUM_HEARTBEAT_SECONDS: '1',
        ENVARIUM_ABORT_SECONDS: '5',
        ENVARIUM_LOG_LEVEL: 'warn',
      };
      service = await startService({ folder, settings });
      [organizationId, projectId] = await service.client
        .call('listProjects')
        .then(([project]) => [project?.organizationId ?? '', project?.id ?? '']);
    });

    after(async () => {
      await service.stop();
      await marks[Symbol.asyncDispose]();
      await removeScratch(folder);
    });

    const deploymentOf = (id: string) => service.client.call('getDeployment', { params: { id } });
    const ended = (id: string) =>
      until('the end of the deployment', async () => {
        const deployment = await deploymentOf(id);
        return isTerminal(deployment.status) && deployment;
      });

    /** An environment whose first deployment waits at the gate of this phase. */
    async function deployTo(phase: 'plan' | 'apply', name: string) {
      if (phase === 'apply') marks.open(name, 'plan');
      const repository = await makeRepository(folder, name, { 'main.tf': configuration });
      const environment = await service.client.call('createEnvironmentWithoutTemplate', {
        body: {
          name,
          projectId,
          organizationId,
          repository: repository.path,
          type,
          requiresApproval: false,
          configurationChanges: [
            { name: 'place', value: marks.addressOf(name), type: 1 },
            { name: 'ENVARIUM_TEST_PLACE', value: marks.addressOf(name), type: 0 },
          ],
        },
      });
      await until(`the ${phase}`, async () => marks.of(name).includes(phase === 'plan' ? 'plan' : 'begin'));
      return { environment, id: environment.latestDeploymentLog.id ?? '', place: name };
    }

    function openGates(place: string): void {
      for (const mark of ['plan', 'begin']) marks.open(place, mark);
    }

    const agentPid = () =>
      until(
        'the agent',
        async () =>
          (await childrenOf(service.process.pid ?? 0)).find(({ command }) =>
            command.includes('agent/src/main.ts'),
          )?.pid,
      );

    /** The runner of the one attempt that has not ended. */
    const runnerPid = () =>
      until('the runner', async () => {
        const attempts = join(folder, 'data', 'spool', 'attempts');
        for (const attempt of await readdir(attempts)) {
          if (await text(join(attempts, attempt, 'outcome.json'))) continue;
          const { pid } = JSON.parse(await text(join(attempts, attempt, 'runner.json'))) as { pid: number };
          if (await text(`/proc/${pid}/stat`)) return pid;
        }
        return undefined;
      });

    const toolPid = async () => {
      const runner = await runnerPid();
      return until('the tool', async () => {
        const isTool = ({ command }: { command: string }) =>
          new RegExp(`${program} (plan|apply)`).test(command);
        // What the runner started only waits for the tool, or watches over it.
        const below = async (pid: number): Promise<number | undefined> => {
          const found = (await childrenOf(pid)).find(isTool)?.pid;
          return found === undefined ? undefined : ((await below(found)) ?? found);
        };
        return below(runner);
      });
    };

    async function killServer(): Promise<void> {
      const gone = new Promise((resolve) => service.process.once('exit', resolve));
      service.process.kill('SIGKILL');
      await gone;
      service = await startService({ folder, settings });
    }

    /** What was done to the world, in its order. */
    const deedsOf = (place: string) => marks.of(place).filter((mark) => mark !== 'plan');

    /**
     * After whatever became of the first one, the next deployment brings the environment to what its code
     * says.
     */
    async function deployAgain(environmentId: string, place: string): Promise<Deployment> {
      openGates(place);
      const { id } = await service.client.call('deployEnvironment', {
        params: { id: environmentId },
        body: {},
      });
      const deployment = await ended(id);
      assert.equal(deployment.status, 'SUCCESS', deployment.error?.message);
      assert.equal(deployment.resourceCount, 2);
      return deployment;
    }

    for (const phase of ['plan', 'apply'] as const) {
      test(`after the agent is killed in ${phase}, the runner continues and the next agent finds it`, async () => {
        const { id, place } = await deployTo(phase, `agent-${phase}`);
        process.kill(await agentPid(), 'SIGKILL');
        openGates(place);
        const deployment = await ended(id);
        assert.equal(deployment.status, 'SUCCESS', deployment.error?.message);
        assert.deepEqual(deedsOf(place), ['first', 'begin', 'end']);
        assert.equal(deployment.resourceCount, 2);
      });

      test(`after the server is killed in ${phase}, the run continues and reports to the next server`, async () => {
        const { id, place } = await deployTo(phase, `server-${phase}`);
        await killServer();
        openGates(place);
        const deployment = await ended(id);
        assert.equal(deployment.status, 'SUCCESS', deployment.error?.message);
        assert.deepEqual(deedsOf(place), ['first', 'begin', 'end']);
        assert.equal(deployment.resourceCount, 2);
      });
    }

    test('after the runner is killed in a plan, the plan is made again, once', async () => {
      const { id, place } = await deployTo('plan', 'runner-plan');
      process.kill(await runnerPid(), 'SIGKILL');
      await until(
        'a second plan',
        async () => marks.of(place).filter((mark) => mark === 'plan').length === 2,
      );
      openGates(place);
      const deployment = await ended(id);
      assert.equal(deployment.status, 'SUCCESS', deployment.error?.message);
      assert.deepEqual(deedsOf(place), ['first', 'begin', 'end']);
    });

    test('after the runner is killed in an apply, nothing is started again, the state is kept and the next deployment continues', async () => {
      const { environment, id, place } = await deployTo('apply', 'runner-apply');
      process.kill(await runnerPid(), 'SIGKILL');
      const deployment = await ended(id);
      assert.equal(deployment.status, 'INTERNAL_FAILURE');
      assert.ok(deployment.stateVersionId, 'the state that the tool left is stored');
      assert.deepEqual(deedsOf(place), ['first', 'begin']);
      await deployAgain(environment.id, place);
      assert.equal(deedsOf(place).filter((line) => line === 'first').length, 1);
    });

    test('after the tool is killed in a plan, the deployment fails and nothing is applied', async () => {
      const { environment, id, place } = await deployTo('plan', 'tool-plan');
      process.kill(await toolPid(), 'SIGKILL');
      const deployment = await ended(id);
      assert.equal(deployment.status, 'FAILURE');
      assert.equal(deployment.failedCommand, `${program} plan`);
      assert.deepEqual(deedsOf(place), []);
      await deployAgain(environment.id, place);
    });

    test('after the tool is killed in an apply, the deployment fails, the state is kept and the next deployment continues', async () => {
      const { environment, id, place } = await deployTo('apply', 'tool-apply');
      process.kill(await toolPid(), 'SIGKILL');
      const deployment = await ended(id);
      assert.equal(deployment.status, 'FAILURE');
      assert.equal(deployment.failedCommand, `${program} apply`);
      // OpenTofu writes nothing into its file for 20 seconds: what it created until then is reported with its id,
      // for a person to import.
      const isWritten = type === 'terraform';
      assert.equal(
        deployment.stateVersionId !== undefined,
        isWritten,
        'the state that the tool left is stored',
      );
      const unrecorded = deployment.unrecordedResources ?? [];
      assert.deepEqual(unrecorded.map((each) => [each.address, each.certainty]).toSorted(), [
        ...(isWritten ? [] : [['terraform_data.first', 'created']]),
        ['terraform_data.second', 'may exist'],
      ]);
      for (const each of unrecorded)
        if (each.certainty === 'created') assert.match(each.id ?? '', /^[0-9a-f-]{36}$/);
      await deployAgain(environment.id, place);
      assert.equal(deedsOf(place).filter((line) => line === 'first').length, isWritten ? 1 : 2);
    });
  });

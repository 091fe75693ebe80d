/**
 * Longer failures of the network between an agent and its service, and the loss of its machine, with the times of
 * an ordinary installation: `network.test.ts` has the short ones.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { type Marks, startMarks } from '../marks.ts';
import { withoutTerraform } from '../programs.ts';
import { deploy, until, untilStatus } from '../runs.ts';
import { type RunningService, startService } from '../service.ts';
import { FarAgent } from './far-agent.ts';
import {
  checkUnharmed,
  deploymentOf,
  type FarRun,
  middle,
  startAndHold,
  startFarRun,
  untilUnreachable,
} from './far-run.ts';
import type { Fault } from './faulty-network.ts';

async function start(settings: Readonly<Record<string, string>> = {}) {
  return startService({
    settings: {
      ENVARIUM_BUILT_IN_AGENT: 'false',
      ENVARIUM_LOG_LEVEL: 'warn',
      ENVARIUM_RATE_LIMIT: '0',
      ...settings,
    },
  });
}

describe('the network of an agent, with the settings of an ordinary installation,', {
  concurrency: true,
  skip: withoutTerraform,
}, () => {
  let service: RunningService;
  let marks: Marks;

  before(async () => {
    marks = await startMarks([middle]);
    service = await start();
  });
  after(async () => {
    await service?.[Symbol.asyncDispose]();
    await marks?.[Symbol.asyncDispose]();
  });

  for (const [fault, seconds] of [
    ['cut', 30],
    ['cut', 300],
    ['half-open', 30],
    ['half-open', 300],
  ] as const satisfies [Fault, number][])
    test(`is ${fault} for ${seconds} seconds, within the offline grace: the run is unharmed`, async () => {
      const story = `${fault}-${seconds}`;
      await using agent = await FarAgent.start(service, story);
      const run = await startAndHold(service, marks, agent, story);
      agent.network.begin(fault);
      marks.open(story, middle);
      await until('the end of the command', () => marks.of(story).includes('last'));
      await untilUnreachable(service.client, run);
      await delay((seconds - 21) * 1000);
      await untilUnreachable(service.client, run);
      agent.network.end();
      await checkUnharmed(service.client, marks, run);
    });

  test('is slow, and the run prints much', async () => {
    await using agent = await FarAgent.start(service, 'slow');
    const run = await startAndHold(service, marks, agent, 'slow', { words: 'x'.repeat(1_000) });
    agent.network.begin('slow');
    marks.open('slow', middle);
    await checkUnharmed(service.client, marks, run);
  });

  /** The machine of an agent ends, which is shown within 30 seconds. @returns how */
  async function dieAndBeShown(agent: FarAgent, run: FarRun): Promise<string> {
    const diedAt = performance.now();
    await agent.die();
    const text = await untilUnreachable(service.client, run);
    const seconds = (performance.now() - diedAt) / 1000;
    console.log(`shown after ${seconds.toFixed(1)} s: ${text}`);
    assert.ok(seconds < 30, `shown after ${seconds} seconds`);
    return text;
  }

  test('ends with the machine: the deployment and its agent are shown as unreachable within 30 seconds', async () => {
    await using agent = await FarAgent.start(service, 'dead');
    const run = await startAndHold(service, marks, agent, 'dead');
    const next = await deploy(service.client, run.environmentId);
    const text = await dieAndBeShown(agent, run);
    assert.match(text, /^The agent on \S+ has not been heard from since \S+; the run is given up at \S+$/);
    const waiting = await service.client.call('getDeployment', { params: { id: next.id } });
    assert.equal(waiting.waitingFor?.kind, 'lock');
    await service.client.call('releaseDeployment', {
      params: { id: run.deploymentId },
      body: { reason: 'the machine is gone' },
    });
    const released = await deploymentOf(service.client, run);
    assert.equal(released.status, 'INTERNAL_FAILURE');
    assert.match(released.error?.message ?? '', /the machine is gone/);
  });

  test('ends with the machine before the run may change anything: the deployment says that no agent is there', async () => {
    await using agent = await FarAgent.start(service, 'unmarked');
    agent.network.begin('slow');
    const run = await startFarRun(service, marks, agent, 'unmarked');
    await until('the claim', async () => (await deploymentOf(service.client, run)).startedAt !== undefined);
    await dieAndBeShown(agent, run);
  });
});

describe('the network of an agent, with an offline grace of five seconds,', {
  skip: withoutTerraform,
}, () => {
  let service: RunningService;
  let marks: Marks;

  before(async () => {
    marks = await startMarks([middle]);
    service = await start({
      ENVARIUM_OFFLINE_GRACE_SECONDS: '5',
      ENVARIUM_ABORT_SECONDS: '5',
      ENVARIUM_HEARTBEAT_SECONDS: '1',
    });
  });
  after(async () => {
    await service?.[Symbol.asyncDispose]();
    await marks?.[Symbol.asyncDispose]();
  });

  test('is cut for longer: the run is interrupted, given up with a reason, and its late state is kept', async () => {
    await using agent = await FarAgent.start(service, 'long');
    const run = await startAndHold(service, marks, agent, 'long');
    agent.network.begin('cut');
    const shown = await untilUnreachable(service.client, run);
    const next = await deploy(service.client, run.environmentId);
    // The grace, the abort time and a minute.
    await delay(35_000);
    assert.equal((await deploymentOf(service.client, run)).status, 'IN_PROGRESS', shown);
    const abandoned = await untilStatus(service.client, run.deploymentId);
    assert.equal(abandoned.status, 'INTERNAL_FAILURE');
    assert.match(abandoned.error?.message ?? '', /has not been heard from since/);
    assert.deepEqual(marks.of('long'), ['first', middle], 'the tool was interrupted');

    agent.network.end();
    marks.open('long', middle);
    const done = await untilStatus(service.client, next.id);
    assert.equal(done.status, 'SUCCESS', done.error?.message);
    assert.equal(
      (await deploymentOf(service.client, run)).status,
      'INTERNAL_FAILURE',
      'its outcome is refused',
    );
    const versions = await service.client.call('listStateVersions', { params: { id: run.environmentId } });
    const [current, ...others] = versions.map(({ standing, deploymentLogId }) => ({
      standing,
      isOfRun: deploymentLogId === run.deploymentId,
    }));
    assert.deepEqual(current, { standing: 'current', isOfRun: false });
    assert.ok(
      others.length > 0 && others.every(({ isOfRun, standing }) => isOfRun && standing !== 'current'),
    );
    assert.match(
      agent.log(),
      /the server no longer lists the attempt; stopping its tool and keeping its state/,
    );
  });
});

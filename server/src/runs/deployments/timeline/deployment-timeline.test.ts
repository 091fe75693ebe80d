import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RunEvent } from '#protocol/messages/report.ts';
import { plannedOutcome } from '../../../../testing/agent.ts';
import { fieldOf } from '../../../../testing/fields.ts';
import { startAgentTests } from '../../../../testing/start.ts';

const { agent, ok, refused, createEnvironment } = await startAgentTests();
const at = (milliseconds: number) => new Date(Date.UTC(2020, 0, 1) + milliseconds).toISOString();

const steps: RunEvent[] = [
  { kind: 'step', at: at(50), step: 'git:clone', status: 'IN_PROGRESS' },
  {
    kind: 'process',
    at: at(80),
    step: 'git:clone',
    program: 'git',
    label: 'git clone',
    exitCode: 0,
    signal: null,
    milliseconds: 20,
    cpuMilliseconds: 10,
  },
  { kind: 'step', at: at(90), step: 'git:clone', status: 'SUCCESS' },
];

test('the timeline of a deployment contains the times that its agent reported', async () => {
  const environment = await createEnvironment({ requiresApproval: true });
  const id = environment.latestDeploymentLogId ?? '';
  const job = await agent.claim();
  await agent.report(job, { eventsFrom: 0, events: steps, logs: [] });
  const running = await ok('getDeploymentTimeline', { id });
  assert.deepEqual(fieldOf(running.phases, 'phase'), ['request', 'claim', 'start', 'checkout']);
  const answer = await agent.send('finish', job, {
    fence: job.fence,
    outcome: plannedOutcome(),
    times: { receivedAt: at(10), sentAt: at(120) },
  });
  assert.equal(answer.statusCode, 200);
  const { phases, commands } = await ok('getDeploymentTimeline', { id });
  const named = (wanted: string) => phases.find(({ phase }) => phase === wanted);
  assert.deepEqual([named('start')?.milliseconds, named('start')?.ownMilliseconds], [40, 40]);
  assert.deepEqual(named('checkout'), {
    phase: 'checkout',
    run: 'plan',
    step: 'git:clone',
    milliseconds: 40,
    toolMilliseconds: 0,
    gitMilliseconds: 20,
    waitingMilliseconds: 0,
    ownMilliseconds: 20,
  });
  assert.ok((named('end')?.milliseconds ?? 0) >= 30);
  assert.deepEqual(commands, [
    { step: 'git:clone', label: 'git clone', program: 'git', milliseconds: 20, cpuMilliseconds: 10 },
  ]);
  await ok('cancelDeployment', { id });
});

test('a deployment that does not exist has no timeline', async () => {
  const id = '019366a0-0000-7000-8000-000000000009';
  await refused('getDeploymentTimeline', 404, { id });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isActive, isTerminal, serialTypes } from '#contract/life-cycle/life-cycle.ts';
import type { DeploymentStatus } from '#contract/schema/enumerations.ts';
import type { Job } from '#protocol/messages/job.ts';
import { appliedOutcome, plannedOutcome, stateFile } from '../../../testing/agent.ts';
import { startAgentTests } from '../../../testing/start.ts';

const { agent, call, ok, sql, createIdle, environmentOf } = await startAgentTests();

const now = () => new Date().toISOString();

/** Actions of people on an environment; refusals are replies too. */
const people = [
  'deploy',
  'deployAlone',
  'destroy',
  'prPlan',
  'driftDetection',
  'dryRun',
  'approve',
  'cancel',
  'cancelQueued',
  'abort',
  'lock',
  'unlock',
  'archive',
] as const;
/** Actions of an agent. */
const agents = ['claim', 'finish', 'fail', 'lose', 'mark', 'state'] as const;

interface Walk {
  readonly id: string;
  readonly held: Job[];
}

async function act(
  walk: Walk,
  name: (typeof people)[number] | (typeof agents)[number],
  which: number,
): Promise<void> {
  const params = { id: walk.id };
  const deployments = await ok('listDeployments', { params });
  const picked = { id: deployments[which % Math.max(1, deployments.length)]?.id ?? walk.id };
  const job = walk.held[which % Math.max(1, walk.held.length)];
  const drop = () => walk.held.splice(walk.held.indexOf(job as Job), 1);
  const keep = (next: Job | null) => next && walk.held.push(next);
  switch (name) {
    case 'deploy':
    case 'prPlan':
    case 'driftDetection':
    case 'dryRun':
      return void (await call('deployEnvironment', { params, body: { deploymentType: name } }));
    case 'deployAlone':
      return void (await call('deployEnvironment', {
        params,
        body: { userRequiresApproval: which % 2 === 0 },
      }));
    case 'destroy':
      return void (await call('destroyEnvironment', { params }));
    case 'approve':
      return void (await call('approveDeployment', { params: picked }));
    case 'cancel':
      return void (await call('cancelDeployment', { params: picked }));
    case 'cancelQueued':
      return void (await call('cancelQueuedDeployments', { params }));
    case 'abort':
      return void (await call('abortDeployment', { params: picked }));
    case 'lock':
    case 'unlock':
      return void (await call('setEnvironmentLock', { params, body: { isLocked: name === 'lock' } }));
    case 'archive':
      return void (await call('updateEnvironment', { params, body: { isArchived: which % 2 === 0 } }));
    case 'claim':
      return void keep(await agent.claimAny());
    case 'finish': {
      if (!job) return;
      drop();
      if (job.phase === 'plan')
        return void keep(await agent.finish(job, plannedOutcome({ hasResourceChanges: false })));
      return void (await agent.finish(job, appliedOutcome()));
    }
    case 'fail':
      if (job) drop();
      return void (
        job &&
        (await agent.finish(job, {
          result: (['failed', 'timed-out', 'internal', 'aborted'] as const)[which % 4] ?? 'failed',
          finishedAt: now(),
        }))
      );
    case 'lose':
      if (job) drop();
      return void (job && (await agent.finish(job, { result: 'internal', isLost: true, finishedAt: now() })));
    case 'mark':
      return void (
        job && (await agent.send('mark', job, { fence: job.fence, mark: `mark of ${job.jobId}` }))
      );
    case 'state':
      return void (
        job &&
        (await agent.putState(
          job,
          stateFile((job.state.current?.serial ?? 0) + 1, which % 2 === 0 ? ['a'] : [], job.environmentId),
          job.state.current?.stateVersionId ?? '',
        ))
      );
  }
}

/** Invariants after every step. */
async function check(walk: Walk): Promise<void> {
  const environment = await environmentOf(walk.id);
  const deployments = await ok('listDeployments', { id: walk.id });
  const jobs = await sql<{ deployment_id: string; status: string }>(
    "select j.deployment_id, j.status from job j join deployment d on d.id = j.deployment_id where d.environment_id = $1 and j.status <> 'done'",
    walk.id,
  );
  const active = deployments.filter(
    ({ status, type }) => isActive(status) && (serialTypes as readonly string[]).includes(type),
  );
  assert.ok(active.length <= 1, 'one serial deployment is active');
  for (const { id, status, waitingFor, finishedAt } of deployments) {
    const isAtWork = status === 'IN_PROGRESS' || status === 'ABORTING';
    assert.equal(
      jobs.filter((job) => job.deployment_id === id).length,
      isAtWork ? 1 : 0,
      `${status} and its job`,
    );
    if (status === 'QUEUED' || status === 'WAITING_FOR_USER')
      assert.ok(waitingFor, `${status} says what it waits for`);
    assert.equal(finishedAt !== null, isTerminal(status) && status !== 'NEVER_DEPLOYED');
  }
  const isBusy = (
    [
      'DEPLOY_IN_PROGRESS',
      'DESTROY_IN_PROGRESS',
      'DRY_RUN_IN_PROGRESS',
      'ABORTING',
      'WAITING_FOR_USER',
    ] as string[]
  ).includes(environment.status);
  const speaking = deployments.filter(
    ({ type, status }) => type !== 'prPlan' && type !== 'driftDetection' && !isTerminal(status),
  );
  assert.equal(
    isBusy,
    speaking.length > 0,
    `${environment.status} with ${speaking.map(({ type, status }) => `${type} ${status}`).join()}`,
  );
}

/** Everything comes to an end where people decide and agents work. */
async function bringToRest(walk: Walk): Promise<void> {
  await ok('setEnvironmentLock', { id: walk.id, body: { isLocked: false } });
  for (let rounds = 0; rounds < 60; rounds++) {
    const open = (await ok('listDeployments', { id: walk.id })).filter(
      ({ status }) => !isTerminal(status as DeploymentStatus),
    );
    if (open.length === 0) return;
    for (const { id = '', status } of open)
      if (status === 'WAITING_FOR_USER') await call('cancelDeployment', { id });
    await act(walk, 'claim', 0);
    await act(walk, 'finish', 0);
  }
  assert.fail('some deployment never ends');
}

const step = fc.tuple(fc.constantFrom(...people, ...agents, ...agents), fc.nat(5));

async function begin(): Promise<Walk> {
  return { id: (await createIdle({ requiresApproval: false })).id, held: [] };
}

test('random actions of people and agents never leave a deployment stuck or states that disagree', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
      const walk = await begin();
      for (const [name, which] of steps) {
        await act(walk, name, which);
        await check(walk);
      }
      await bringToRest(walk);
      await check(walk);
    }),
    { numRuns: 10 },
  );
});

test('simultaneous random actions never leave a deployment stuck', async () => {
  const batch = fc.array(step, { minLength: 2, maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(fc.array(batch, { minLength: 2, maxLength: 6 }), async (batches) => {
      const walk = await begin();
      for (const steps of batches) {
        await Promise.all(steps.map(([name, which]) => act(walk, name, which)));
        await check(walk);
      }
      await bringToRest(walk);
      await check(walk);
    }),
    { numRuns: 10 },
  );
});

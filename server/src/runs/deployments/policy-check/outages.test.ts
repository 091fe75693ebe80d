/** Transient failures during a check of policies. */
import assert from 'node:assert/strict';
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { plannedOutcome } from '../../../../testing/agent.ts';
import { fieldOf } from '../../../../testing/fields.ts';
import { says, startPolicyTests } from '../../../../testing/guarded.ts';
import { createFolderBlobStore } from '../../../ground/blobs/blob-store.ts';
import { policyCheck } from './policy-check.ts';

const tests = await startPolicyTests();
const { app, agent, repositories, needsOpa, ok, deploy, deploymentOf, guarded, checked, logOf } = tests;

const statusOf = async (id: string) => (await deploymentOf(id)).status;

const one = `package envarium
pending contains "one more" if count(input.approvers) == 0
allow contains "enough" if count(input.approvers) > 0`;

/** A plan that was approved while the repository of its policy cannot be read. */
async function approvedWithoutRepository() {
  const { environment, policies } = await guarded([one]);
  const { id } = await checked(environment.id);
  assert.equal(await statusOf(id), 'WAITING_FOR_USER');
  const { folder } = policies[0] ?? assert.fail();
  renameSync(folder, `${folder}-away`);
  await ok('approveDeployment', { id });
  await app.carryOutEffects();
  assert.equal(await statusOf(id), 'IN_PROGRESS');
  return { id, putBack: () => renameSync(`${folder}-away`, folder) };
}

test('a repository that cannot be read after an approval is tried again', needsOpa, async () => {
  const { id, putBack } = await approvedWithoutRepository();
  assert.match(
    await logOf(id),
    /Approval policy "policy \d+": The policy cannot be read: .*\. Tried again at \d{4}-/,
  );
  app.advance(6);
  await app.carryOutEffects();
  assert.equal(await statusOf(id), 'IN_PROGRESS');
  putBack();
  app.advance(12);
  await app.carryOutEffects();
  const { policyVerdicts = [] } = await deploymentOf(id);
  assert.deepEqual(fieldOf(policyVerdicts, 'decision'), ['pending', 'allow']);
  await agent.apply(await agent.claim());
  assert.equal(await statusOf(id), 'SUCCESS');
});

test('an outage that lasts too long ends the deployment with its reason', needsOpa, async () => {
  const { id } = await approvedWithoutRepository();
  app.advance(31 * 60);
  await app.carryOutEffects();
  const { status, error } = await deploymentOf(id);
  assert.equal(status, 'FAILURE');
  assert.match(error?.message ?? '', /The policy cannot be read: .* \(tried for 30 minutes\)$/);
});

/** A plan whose policies cannot be evaluated, because the store of blobs is away. */
async function plannedWithoutBlobs() {
  const { environment } = await guarded([says('allow')]);
  const { id } = await deploy(environment.id);
  const job = await agent.claim();
  await agent.putBlob(job, 'plan', 'plan');
  // Too large for the row.
  await agent.putBlob(job, 'policy-input', JSON.stringify({ plan: { padding: 'x'.repeat(100_000) } }));
  await agent.finish(job, plannedOutcome());
  const away = createFolderBlobStore(join(repositories, 'not-mounted'), app.context.sealer);
  const round = { deploymentId: id, round: 1 };
  /** Evaluates at a time. @returns when to try again */
  const check = async (now: () => Date): Promise<Date | null> => {
    const context = { ...app.context, blobs: away, now };
    return (await policyCheck.carryOut(context, round, new AbortController().signal)) ?? null;
  };
  return { id, check };
}

test('a store of blobs that is away is tried again, too', needsOpa, async () => {
  const { id, check } = await plannedWithoutBlobs();
  const again = await check(app.context.now);
  assert.ok(again && again > app.context.now());
  assert.equal(await statusOf(id), 'IN_PROGRESS');
  assert.match(await logOf(id), /^The approval policies could not be evaluated\. Tried again at /);
  await app.carryOutEffects();
  assert.equal((await deploymentOf(id)).policyVerdicts?.[0]?.decision, 'allow');
  await agent.apply(await agent.claim());
});

test('pauses grow with the time since the round began, up to five minutes', needsOpa, async () => {
  const { id, check } = await plannedWithoutBlobs();
  const steps = await ok('listSteps', { params: { deploymentLogId: id } });
  const began = Date.parse(steps.find(({ name }) => name === 'policy:check')?.startedAt ?? '');
  const pauses: (number | null)[] = [];
  for (const seconds of [0, 5, 20, 240, 600, 1799, 1800]) {
    const now = new Date(began + seconds * 1000);
    const again = await check(() => now);
    pauses.push(again && (again.getTime() - now.getTime()) / 1000);
  }
  assert.deepEqual(pauses, [5, 5, 20, 240, 300, 300, null]);
  assert.equal(await statusOf(id), 'FAILURE');
});

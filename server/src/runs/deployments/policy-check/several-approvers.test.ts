/** Plans that need more than one person, or that policies decide about while people do. */
import assert from 'node:assert/strict';
import { beforeEach } from 'node:test';
import { says, startPolicyTests } from '../../../../testing/guarded.ts';

const tests = await startPolicyTests();
const { app, agent, test, organizationId, call, ok, refused, sql } = tests;
const { deploymentOf, forgetWork, guarded, plan, checked } = tests;
const [ada, ben, eve] = await Promise.all([1, 2, 3].map(() => app.addKey({ [organizationId]: 'Admin' })));
type Key = NonNullable<typeof ada>;
beforeEach(() => forgetWork());

const people = (count: number) => `package envarium
missing := ${count} - count(input.approvers)
pending contains sprintf("%d more", [missing]) if missing > 0
allow contains "enough" if missing <= 0`;

async function waitingFor(count: number, more: object = {}) {
  const { environment, project } = await guarded([people(count)], more);
  const { id, deployment } = await checked(environment.id);
  assert.equal(deployment.status, 'WAITING_FOR_USER');
  return { id, environment, project };
}

const approve = (id: string, as: Key | undefined) => call('approveDeployment', { id, as: as! });
async function approved(id: string, as: Key | undefined): Promise<string> {
  assert.deepEqual(await ok('approveDeployment', { id, as: as! }), {
    id,
    status: 'IN_PROGRESS',
  });
  await app.carryOutEffects();
  return (await deploymentOf(id)).status;
}
const refusal = async (id: string, as: Key | undefined) =>
  (await refused('approveDeployment', 409, { id, as: as! })).message;
const jobsOf = async (id: string) =>
  (await sql<{ phase: string }>('select phase from job where deployment_id = $1', id))
    .map(({ phase }) => phase)
    .toSorted();

test('each approval says who has approved and what is missing, and no one approves twice', async () => {
  const { id } = await waitingFor(3);
  assert.equal(await approved(id, ada), 'WAITING_FOR_USER');
  const { waitingFor: wait, reviews, reviewers } = await deploymentOf(id);
  assert.match(
    wait?.text ?? '',
    /1 person has approved it so far\. Approval policies ask for more: policy \d+: 2 more$/,
  );
  assert.deepEqual(
    [wait?.approval?.decidedBy, wait?.approval?.excluded, reviewers, reviews?.length],
    [
      'policy',
      [{ userId: ada?.id, reason: 'alreadyApproved' }],
      [{ userId: ada?.id, action: 'approved' }],
      1,
    ],
  );
  assert.match(wait?.approval?.missing?.join() ?? '', /^policy \d+: 2 more$/);
  assert.match(await refusal(id, ada), /^You have approved this plan already/);
  assert.equal(await approved(id, ben), 'WAITING_FOR_USER');
  assert.equal(await approved(id, eve), 'IN_PROGRESS');
  assert.deepEqual(await jobsOf(id), ['apply', 'plan']);
  await agent.apply(await agent.claim());
  assert.equal((await deploymentOf(id)).status, 'SUCCESS');
});

test('the time of the check is that of its last round, without the wait for people', async () => {
  const { id } = await waitingFor(2);
  app.advance(600);
  assert.equal(await approved(id, ada), 'WAITING_FOR_USER');
  const steps = await ok('listSteps', { params: { deploymentLogId: id } });
  const { startedAt, completedAt } = steps.find(({ name }) => name === 'policy:check') ?? {};
  assert.ok(Date.parse(completedAt ?? '') - Date.parse(startedAt ?? '') < 60_000);
});

test('a key of an organization and its maker count as one person', async () => {
  const { id } = await waitingFor(2);
  const made = await ok('createApiKey', { body: { organizationId, name: 'ci' }, as: ada! });
  assert.equal(await approved(id, ada), 'WAITING_FOR_USER');
  const key = { id: made.apiKeyId, secret: made.apiKeySecret };
  assert.match(await refusal(id, key), /approved already by you or by a key/);
  await ok('cancelDeployment', { id });
});

test('of two simultaneous approvals one counts first, and the other one after the policies were evaluated', async () => {
  const { id } = await waitingFor(2);
  const replies = await Promise.all([approve(id, ada), approve(id, ben)]);
  assert.deepEqual(replies.map(({ statusCode }) => statusCode).toSorted(), [200, 409]);
  const later = replies[0]?.statusCode === 200 ? ben : ada;
  assert.match(await refusal(id, later), /IN_PROGRESS/, 'while the policies are evaluated');
  await app.carryOutEffects();
  assert.equal(await approved(id, later), 'IN_PROGRESS');
  assert.deepEqual(await jobsOf(id), ['apply', 'plan']);
});

test('of an approval and a refusal at once one counts, also for the second approver', async () => {
  const { id } = await waitingFor(2);
  assert.equal(await approved(id, ada), 'WAITING_FOR_USER');
  const replies = await Promise.all([approve(id, ben), call('cancelDeployment', { id, as: eve! })]);
  assert.deepEqual(replies.map(({ statusCode }) => statusCode).toSorted(), [200, 409]);
  await app.carryOutEffects();
  const { status, reviewers } = await deploymentOf(id);
  assert.deepEqual(
    [reviewers.length, reviewers.at(-1)?.action],
    [2, status === 'CANCELLED' ? 'cancelled' : 'approved'],
  );
  assert.deepEqual(await jobsOf(id), status === 'CANCELLED' ? ['plan'] : ['apply', 'plan']);
});

test('a refusal by the second person ends the plan, regardless of earlier approvals', async () => {
  const { id } = await waitingFor(2);
  assert.equal(await approved(id, ada), 'WAITING_FOR_USER');
  await ok('cancelDeployment', { id, body: { comment: 'no' }, as: ben! });
  const { status, reviews } = await deploymentOf(id);
  assert.deepEqual([status, reviews?.map(({ action }) => action)], ['CANCELLED', ['approved', 'cancelled']]);
  assert.match(await refusal(id, eve), /is CANCELLED/);
});

test('the wait for the next person begins with the last approval, and ends as well', async () => {
  const { id } = await waitingFor(2);
  const { waitingFor: first } = await deploymentOf(id);
  app.advance(20 * 86_400);
  assert.equal(await approved(id, ada), 'WAITING_FOR_USER');
  const { waitingFor: second } = await deploymentOf(id);
  assert.ok(
    Date.parse(second?.approval?.until ?? '') - Date.parse(first?.approval?.until ?? '') > 19 * 86_400_000,
  );
  const { expireApprovals } = await import('../approval/expire-approvals.ts');
  app.advance(20 * 86_400);
  await expireApprovals(app.context);
  assert.equal((await deploymentOf(id)).status, 'WAITING_FOR_USER');
  app.advance(11 * 86_400);
  await expireApprovals(app.context);
  assert.equal((await deploymentOf(id)).status, 'TIMEOUT');
});

test("one's own plan needs others, however many policies ask for", async () => {
  const { environment, project } = await guarded([people(1)]);
  await ok('updatePolicy', { body: { projectId: project.id, selfApprovalForbidden: true } });
  const { id } = await ok('deployEnvironment', { id: environment.id, as: ada! });
  await plan();
  await app.carryOutEffects();
  assert.match(await refusal(id, ada), /^You started this deployment/);
  assert.equal(await approved(id, ben), 'IN_PROGRESS');
});

/** A plan of a user who may only plan, with a change of a variable. */
async function proposal(text: string) {
  const { environment } = await guarded([text], {
    configurationChanges: [{ name: 'SIZE', value: 'small' }],
  });
  const assigned = [{ organizationId, environmentId: environment.id, role: 'Planner' }];
  const as = await app.addKey({ [organizationId]: [] }, assigned);
  const body = { configurationChanges: [{ name: 'SIZE', value: 'large' }] };
  const { id } = await ok('deployEnvironment', { id: environment.id, body, as });
  await plan();
  await app.carryOutEffects();
  const size = async () => {
    const rows = await ok('listVariables', { query: { organizationId, environmentId: environment.id } });
    return rows.find(({ name }) => name === 'SIZE')?.value;
  };
  return { id, environment, size };
}

test("a planner's plan waits although policies allow it, and its changes are stored by the last approval", async () => {
  const free = await proposal(says('allow'));
  const { status, waitingFor: wait } = await deploymentOf(free.id);
  assert.deepEqual([status, wait?.approval?.decidedBy], ['WAITING_FOR_USER', 'planner']);
  await ok('cancelDeployment', { id: free.id });
  assert.equal(await free.size(), 'small');
  const two = await proposal(people(2));
  assert.equal(await approved(two.id, ada), 'WAITING_FOR_USER');
  assert.equal(await two.size(), 'small', 'not before the last approval');
  assert.equal(await approved(two.id, ben), 'IN_PROGRESS');
  assert.equal(await two.size(), 'large');
  const rows = await sql<{ actor_id: string }>(
    "select actor_id from audit_event where action = 'variables.changed' order by number desc limit 1",
  );
  assert.equal(rows[0]?.actor_id, ben?.id);
});

test('a proposal that cannot be stored any more fails after its last approval, and says why', async () => {
  const { id, size } = await proposal(people(1));
  const body = [{ scope: 'GLOBAL', organizationId, name: 'SIZE', type: 0, value: 'fixed', isReadonly: true }];
  const [locked] = await ok('saveVariables', { body });
  assert.equal(await approved(id, ada), 'FAILURE');
  await ok('deleteVariable', { id: locked?.id ?? '' });
  const { error } = await deploymentOf(id);
  assert.match(error?.message ?? '', /can no longer be stored/);
  assert.equal(await size(), 'small');
  assert.deepEqual(await jobsOf(id), ['plan']);
});

test('the variable is stronger than what policies ask for, and not than a denial', async () => {
  const never = { configurationChanges: [{ name: 'ENVARIUM_REQUIRES_APPROVAL', value: 'false' }] };
  const always = { configurationChanges: [{ name: 'ENVARIUM_REQUIRES_APPROVAL', value: 'true' }] };
  for (const [text, more, status] of [
    [people(2), never, 'IN_PROGRESS'],
    [says('deny'), never, 'CANCELLED'],
    [says('allow'), always, 'WAITING_FOR_USER'],
  ] as const) {
    const { environment } = await guarded([text], more);
    const { deployment } = await checked(environment.id);
    assert.equal(deployment.status, status, text);
    await forgetWork();
  }
});

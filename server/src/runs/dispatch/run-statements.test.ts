/**
 * Number of database round trips of the calls of a run: each costs a third of a millisecond, twice that for a
 * commit.
 */
import assert from 'node:assert/strict';
import { Socket } from 'node:net';
import { beforeEach, type TestContext, test } from 'node:test';
import pg from 'pg';
import type { Job } from '#protocol/messages/job.ts';
import { appliedOutcome, plannedOutcome, sha256, stateFile } from '../../../testing/agent.ts';
import { startAgentTests } from '../../../testing/start.ts';

const { agent, ok, sql, createIdle, deploy, forgetWork } = await startAgentTests();
beforeEach(() => forgetWork());

const base64 = (text: string) => Buffer.from(text).toString('base64');
const blob = (name: 'plan' | 'tree') => ({ name, sha256: sha256(name), base64: base64(name) });

interface Traffic {
  readonly statements: readonly string[];
  /** Trips to the database, each with one statement or several. */
  readonly trips: number;
}

/** Statements that reach the database while `work` runs. */
async function trafficOf<Result>(
  t: TestContext,
  work: () => Promise<Result>,
): Promise<{ result: Result; traffic: Traffic }> {
  let trips = 0;
  for (const name of ['_writev', '_write'] as const) {
    const send = Socket.prototype[name] as (...args: unknown[]) => void;
    t.mock.method(Socket.prototype, name, function count(this: Socket, ...args: unknown[]) {
      trips++;
      send.apply(this, args);
    } as never);
  }
  const query = t.mock.method(pg.Client.prototype, 'query');
  const result = await work();
  const statements = query.mock.calls.map(({ arguments: [argument] }) => {
    const sent = argument as unknown as string | pg.QueryConfig;
    return typeof sent === 'string' ? sent : sent.text;
  });
  t.mock.restoreAll();
  return { result, traffic: { statements, trips } };
}

function assertAtMost({ statements, trips }: Traffic, most: { statements: number; trips: number }): void {
  const found = `${statements.length} statements in ${trips} trips:\n${statements.join('\n')}`;
  assert.ok(statements.length <= most.statements, found);
  assert.ok(trips <= most.trips, found);
}

async function finished(job: Job, message: object): Promise<Job> {
  const reply = await agent.send('finish', job, { fence: job.fence, ...message });
  assert.equal(reply.statusCode, 200, reply.body);
  return reply.json<{ next: Job }>().next;
}

const planned = { outcome: plannedOutcome(), rest: { blobs: [blob('plan'), blob('tree')] } };

function applied({ environmentId }: Job) {
  const state = stateFile(1, ['a'], environmentId);
  const rest = { state: { follows: '', sha256: sha256(state), base64: base64(state) } };
  return { outcome: appliedOutcome(), rest };
}

test('a deployment that no one has to approve goes to the database a limited number of times', async (t) => {
  const { id } = await createIdle({ requiresApproval: false });
  // The first use of a key in a minute is recorded, after which the key is read again.
  await ok('getEnvironment', { id });
  await sql('select 1');
  const request = await trafficOf(t, () => deploy(id));
  assertAtMost(request.traffic, { statements: 20, trips: 8 });
  const claim = await trafficOf(t, () => agent.claim());
  assertAtMost(claim.traffic, { statements: 10, trips: 5 });
  const plan = await trafficOf(t, () => finished(claim.result, planned));
  assertAtMost(plan.traffic, { statements: 21, trips: 7 });
  const mark = await trafficOf(t, () => agent.mark(plan.result));
  assertAtMost(mark.traffic, { statements: 2, trips: 2 });
  const end = await trafficOf(t, () => finished(plan.result, applied(plan.result)));
  assertAtMost(end.traffic, { statements: 27, trips: 9 });
});

test('an approval goes to the database a limited number of times', async (t) => {
  const { id: environmentId } = await createIdle({ requiresApproval: true });
  const { id } = await deploy(environmentId);
  await finished(await agent.claim(), planned);
  const approval = await trafficOf(t, () => ok('approveDeployment', { id }));
  assertAtMost(approval.traffic, { statements: 19, trips: 10 });
  const claim = await trafficOf(t, () => agent.claim());
  assertAtMost(claim.traffic, { statements: 13, trips: 6 });
});

/**
 * Why deployments do not move, each in one sentence. However many there are, they cost the same few queries.
 */

import type { WaitingFor } from '#contract/deployments/plan.ts';
import type { DeploymentStatus } from '#contract/schema/enumerations.ts';
import { toolFacts } from '#protocol/tools/index.ts';
import type { Context } from '../../../framework/context.ts';
import { openDeploymentsOf } from '../../../rows/deployments/deployment-store.ts';
import type { PlainDeploymentRow } from '../../../rows/deployments/shown-deployment-store.ts';
import { listHolders, listOpenJobs } from '../../../rows/dispatch/run-store.ts';
import { type EnvironmentRow, getEnvironmentRows } from '../../../rows/environments/environment-store.ts';
import { getStateLocks, lockInWords, type StateLockRow } from '../../../rows/state/state-lock-store.ts';
import { giveUpAfterSeconds, reachableSince } from '../../agents/contact.ts';
import { isSerial, type QueuedFacts, waitsFor } from '../../queue/queue-order.ts';
import { waitingForApproval, waitingForApprovals } from '../approval/waiting-for-approval.ts';
import { agentsFor, forAnAgent, type OpenJob } from './waiting-for-agent.ts';

type LockFacts = Pick<EnvironmentRow, 'is_locked' | 'lock_reason' | 'locked_at'>;

function forStateLock(lock: StateLockRow): WaitingFor {
  const text = `${lockInWords(lock)}; the deployment starts when the lock is released`;
  return { kind: 'lock', id: lock.lock_id, since: lock.held_since.toISOString(), text };
}

function queued(
  row: Pick<PlainDeploymentRow, 'id' | 'type' | 'queued_at'>,
  environment: LockFacts,
  open: readonly QueuedFacts[],
  stateLock: StateLockRow | undefined,
): WaitingFor | null {
  const since = row.queued_at.toISOString();
  if (environment.is_locked) {
    const reason = environment.lock_reason ? `: ${environment.lock_reason}` : '';
    return {
      kind: 'lock',
      since: (environment.locked_at ?? row.queued_at).toISOString(),
      text: `The environment is locked${reason}`,
    };
  }
  const ahead = waitsFor(row, open);
  if (!ahead) return stateLock && isSerial(row.type) ? forStateLock(stateLock) : null;
  return {
    kind: 'deployment',
    id: ahead.id,
    since,
    text: `Queued behind the ${ahead.type} ${ahead.id}, which is ${ahead.status}`,
  };
}

type Holder = Awaited<ReturnType<typeof listHolders>>[number];

/** Outlook for a run whose agent stays silent. */
function whatFollows(context: Context, { mark, contact_at }: Holder): string {
  if (mark === null) return 'another agent gets the run';
  const until = contact_at.getTime() + giveUpAfterSeconds(context.settings) * 1000;
  // While the service was away, the agent could not be heard: that time does not count.
  if (until <= context.now().getTime()) return 'the run is given up soon';
  return `the run is given up at ${new Date(until).toISOString()}`;
}

function forContact(context: Context, holder: Holder | undefined): WaitingFor | null {
  if (!holder || holder.contact_at > reachableSince(context)) return null;
  const since = holder.contact_at.toISOString();
  const text = `The agent on ${holder.hostname} has not been heard from since ${since}; ${whatFollows(context, holder)}`;
  return { kind: 'agent', id: holder.id, since, text };
}

/** Deployments behind a silent run wait until its lock is given up. */
async function heldBySilence(
  context: Context,
  waits: readonly [string, WaitingFor | null][],
): Promise<[string, WaitingFor | null][]> {
  const ahead = waits.flatMap(([, wait]) =>
    wait?.kind === 'deployment' && wait.id ? [{ id: wait.id }] : [],
  );
  const silent = new Map((await agentWaits(context, ahead)).filter(([, wait]) => wait?.id !== undefined));
  return waits.map(([id, wait]) => {
    const silence = silent.get(wait?.id ?? '');
    if (!wait || !silence) return [id, wait];
    return [
      id,
      {
        ...wait,
        kind: 'lock',
        since: silence.since,
        text: `The environment is held by the deployment ${wait.id}, which can be released. ${silence.text}`,
      },
    ];
  });
}

function queuedFacts(row: Pick<PlainDeploymentRow, 'id' | 'type' | 'status'>): QueuedFacts {
  return { id: row.id, type: row.type, status: row.status };
}

async function queueWaits(
  context: Context,
  rows: readonly PlainDeploymentRow[],
): Promise<[string, WaitingFor | null][]> {
  const environmentIds = [...new Set(rows.map((row) => row.environment_id))];
  const environments = new Map(
    (await getEnvironmentRows(context.db, environmentIds)).map((row) => [row.id, row]),
  );
  const locks = await getStateLocks(context.db, environmentIds);
  const open = Map.groupBy(
    await openDeploymentsOf(context.db, environmentIds),
    (each) => each.environment_id,
  );
  const waits = rows.map((row): [string, WaitingFor | null] => {
    const facts = (open.get(row.environment_id) ?? []).map(queuedFacts);
    const environment = environments.get(row.environment_id);
    return [row.id, environment ? queued(row, environment, facts, locks.get(row.environment_id)) : null];
  });
  return heldBySilence(context, waits);
}

/** An agent that has the run but is silent, or a job that no agent has claimed yet. */
async function agentWaits(
  context: Context,
  rows: readonly Pick<PlainDeploymentRow, 'id'>[],
): Promise<[string, WaitingFor | null][]> {
  const jobs = await listOpenJobs(
    context.db,
    rows.map((row) => row.id),
  );
  const queuedJobs = jobs.filter((job) => job.status === 'queued');
  const known = await agentsFor(
    context,
    queuedJobs.map((job) => job.project_id),
  );
  const holders = await listHolders(
    context.db,
    jobs.filter((job) => job.status !== 'queued').map((job) => job.id),
  );
  return jobs.map((job) => [
    job.deployment_id,
    job.status === 'queued'
      ? forAnAgent(job, job, known)
      : forContact(
          context,
          holders.findLast((holder) => holder.job_id === job.id),
        ),
  ]);
}

/** @returns what each of the deployments waits for, by id; those that wait for nothing are missing */
export async function waitingForEach(
  context: Context,
  rows: readonly PlainDeploymentRow[],
): Promise<Map<string, WaitingFor>> {
  const inStatus = (...statuses: DeploymentStatus[]) => rows.filter((row) => statuses.includes(row.status));
  const waits = [
    ...(await waitingForApprovals(context, inStatus('WAITING_FOR_USER'))),
    ...(await queueWaits(context, inStatus('QUEUED'))),
    ...(await agentWaits(context, inStatus('IN_PROGRESS', 'ABORTING'))),
  ];
  return new Map(waits.filter((entry): entry is [string, WaitingFor] => entry[1] !== null));
}

/**
 * The same for a deployment that was just made, from facts that are loaded already.
 * @param open open deployments of the environment, in the order of the queue
 * @returns null where nothing is waited for
 */
export async function waitingAtStart(
  context: Context,
  row: Pick<PlainDeploymentRow, 'id' | 'type' | 'status' | 'queued_at' | 'organization_id' | 'project_id'>,
  facts: {
    readonly environment: LockFacts;
    readonly open: readonly Pick<PlainDeploymentRow, 'id' | 'type' | 'status'>[];
    readonly stateLock: StateLockRow | undefined;
    /** Its first, if it starts. */
    readonly job: OpenJob | null;
  },
): Promise<WaitingFor | null> {
  if (facts.job) return forAnAgent(facts.job, row, await agentsFor(context, [row.project_id]));
  if (row.status !== 'QUEUED') return null;
  const open = facts.open.map(queuedFacts);
  const wait = queued(row, facts.environment, open, facts.stateLock);
  return (await heldBySilence(context, [[row.id, wait]]))[0]?.[1] ?? null;
}

/** The same for an event: of an approval, only what is known without reading more. */
export async function waitingForNow(context: Context, row: PlainDeploymentRow): Promise<WaitingFor | null> {
  if (row.status === 'WAITING_FOR_USER')
    return waitingForApproval(row, toolFacts(row.tool), context.settings);
  return (await waitingForEach(context, [row])).get(row.id) ?? null;
}

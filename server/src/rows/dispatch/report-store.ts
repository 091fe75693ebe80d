/** SQL of reports: what one is compared with, and all that it changes, each in one statement. */
import type { Selectable, Updateable } from 'kysely';
import type { Connection } from '../../framework/context.ts';
import { noticeOf, postgresChannel } from '../../ground/database/notices.ts';
import { statement } from '../../ground/database/prepared.ts';
import { deploymentChannel, type NewEvent } from '../feeds/event-store.ts';
import { organizationChannel } from '../feeds/organization-news-store.ts';
import type { StepRow } from '../logs/step-store.ts';
import type { DeploymentTable } from '../schema.ts';
import type { AttemptRow } from './attempt-store.ts';
import type { AttemptInPlace } from './call-store.ts';

/** Facts that a report is compared with. */
export interface ReportFacts {
  readonly deployment: Pick<
    Selectable<DeploymentTable>,
    'id' | 'status' | 'organization_id' | 'project_id' | 'environment_id' | 'resources'
  >;
  readonly attempt: Pick<AttemptRow, 'status' | 'outcome_sha256' | 'events_stored' | 'log_bases'>;
  readonly steps: readonly StepRow[];
}

/** Changes by a report. */
export interface ReportChanges {
  readonly chunks: readonly {
    readonly step_id: string;
    readonly first_byte: number;
    readonly bytes: Buffer;
  }[];
  readonly steps: readonly StepRow[];
  readonly news: readonly NewEvent[];
  /** Number of events of the attempt stored by then. */
  readonly events: number;
  readonly bases: Readonly<Record<string, number>>;
  /** Columns of the deployment; null where none changes. */
  readonly deployment: Updateable<DeploymentTable> | null;
}

type FlatFacts = ReportFacts['deployment'] &
  Omit<ReportFacts['attempt'], 'status'> & {
    readonly attempt_status: AttemptRow['status'];
    readonly steps: readonly (Omit<StepRow, 'started_at' | 'completed_at'> & {
      readonly started_at: string | null;
      readonly completed_at: string | null;
    })[];
  };

const readFacts = statement<FlatFacts>(`
  select d.id, d.status, d.organization_id, d.project_id, d.environment_id,
    case when $4 then d.resources end as resources, a.status as attempt_status, a.outcome_sha256, a.events_stored, a.log_bases,
    (select coalesce(json_agg(s), '[]') from deployment_step s where s.deployment_id = d.id) as steps
  from deployment d, attempt a
  where d.id = $1 and a.job_id = $2 and a.number = $3`);
const lockRows = statement<{ id: string }>(`
  select d.id from deployment d, attempt a
  where d.id = $1 and a.job_id = $2 and a.number = $3 for update of d, a`);

const instant = (text: string | null) => (text === null ? null : new Date(text));

/**
 * @param areResourcesNeeded else the deployment comes without them
 * @throws Error for an attempt without a deployment
 */
export async function loadReportFacts(
  db: Connection,
  { attempt, job }: AttemptInPlace,
  areResourcesNeeded: boolean,
): Promise<ReportFacts> {
  const [row] = await readFacts(db, job.deployment_id, attempt.job_id, attempt.number, areResourcesNeeded);
  if (!row) throw new Error(`Job ${job.id} has lost its deployment`);
  const { attempt_status: status, outcome_sha256, events_stored, log_bases, steps, ...deployment } = row;
  return {
    deployment,
    attempt: { status, outcome_sha256, events_stored, log_bases },
    steps: steps.map((step) => ({
      ...step,
      started_at: instant(step.started_at),
      completed_at: instant(step.completed_at),
    })),
  };
}

/** Locks deployment and attempt: facts that are loaded then are current. */
export async function lockReport(tx: Connection, { attempt, job }: AttemptInPlace): Promise<void> {
  await lockRows(tx, job.deployment_id, attempt.job_id, attempt.number);
}

/**
 * Everything depends on `held`: the rows of deployment and attempt, locked, and still as they were read. Steps
 * change under the lock of their deployment, and never without one of these columns changing, too; two reports
 * that append to the same log collide in the chunk's first byte.
 */
const write = statement<{ held: number }>(`
  with held as (
    select d.id, d.organization_id, d.project_id, d.environment_id
    from deployment d, attempt a
    where d.id = $1 and a.job_id = $2 and a.number = $3 and d.status = $4 and d.project_id = $5
      and a.status = $6 and a.events_stored = $7 and a.log_bases = $8::jsonb
    for update of d, a
  ), chunks as (
    insert into log_chunk (step_id, first_byte, bytes)
    select c.* from held, unnest($9::uuid[], $10::bigint[], $11::bytea[]) c
  ), steps as (
    update deployment_step s
    set status = v.status, started_at = v.started_at, completed_at = v.completed_at,
      retry_count = v.retry_count, log_bytes = s.log_bytes + v.added
    from held, jsonb_to_recordset($12::jsonb) v (id uuid, status text, started_at timestamptz,
      completed_at timestamptz, retry_count integer, added bigint)
    where s.id = v.id
  ), news as (
    select one ->> 'name' as name, one -> 'data' as data, place
    from held, jsonb_array_elements($13::jsonb) with ordinality as each (one, place)
  ), streamed as (
    insert into deployment_event (deployment_id, name, data)
    select held.id, news.name, news.data from held, news order by news.place
  ), fed as (
    insert into organization_event (organization_id, project_id, environment_id, deployment_id, name, data, at)
    select held.organization_id, held.project_id, held.environment_id, held.id, news.name, news.data, $14
    from held, news where news.name = 'step' order by news.place
  ), progressed as (
    update attempt a set events_stored = $15, log_bases = $16::jsonb
    from held where a.job_id = $2 and a.number = $3
  )
  select (select count(*)::integer from held) as held,
    (select count(pg_notify('${postgresChannel}', notice)) from held, unnest($17::text[]) notice) as notified`);

function addedTo(step: StepRow, { chunks }: ReportChanges): number {
  return chunks.reduce((sum, chunk) => sum + (chunk.step_id === step.id ? chunk.bytes.length : 0), 0);
}

function stepsJson(changes: ReportChanges): string {
  return JSON.stringify(
    changes.steps.map((step) => ({
      id: step.id,
      status: step.status,
      started_at: step.started_at,
      completed_at: step.completed_at,
      retry_count: step.retry_count,
      added: addedTo(step, changes),
    })),
  );
}

function noticesOf({ deployment, attempt }: ReportFacts, { chunks, events, news }: ReportChanges): string[] {
  const isFurther = chunks.length > 0 || events > attempt.events_stored;
  return [
    ...(isFurther ? [noticeOf(deploymentChannel(deployment.id))] : []),
    ...(news.some(({ name }) => name === 'step')
      ? [noticeOf(organizationChannel(deployment.organization_id))]
      : []),
  ];
}

/**
 * Stores a report, its events and its notices, all or nothing.
 * @param facts as they were read, with or without locks
 * @returns false where they have changed since, and nothing was stored
 */
export async function writeReport(
  db: Connection,
  { attempt, job }: AttemptInPlace,
  facts: ReportFacts,
  changes: ReportChanges,
  at: Date,
): Promise<boolean> {
  const { chunks } = changes;
  const [row] = await write(
    db,
    job.deployment_id,
    attempt.job_id,
    attempt.number,
    facts.deployment.status,
    facts.deployment.project_id,
    facts.attempt.status,
    facts.attempt.events_stored,
    JSON.stringify(facts.attempt.log_bases),
    chunks.map((chunk) => chunk.step_id),
    chunks.map((chunk) => chunk.first_byte),
    chunks.map((chunk) => chunk.bytes),
    stepsJson(changes),
    JSON.stringify(changes.news),
    at,
    changes.events,
    JSON.stringify(changes.bases),
    noticesOf(facts, changes),
  );
  return row?.held === 1;
}

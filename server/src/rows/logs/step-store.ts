/** SQL of steps and their logs. */
import type { Selectable } from 'kysely';
import { sql } from 'kysely';
import type { StepStatus } from '#contract/schema/enumerations.ts';
import type { Connection } from '../../framework/context.ts';
import { rowsWhere } from '../row-queries.ts';
import type { DeploymentStepTable } from '../schema.ts';

export type StepRow = Selectable<DeploymentStepTable>;

/** Creates all steps of a deployment, none started. */
export async function insertSteps(
  tx: Connection,
  deploymentId: string,
  names: readonly string[],
  newId: () => string,
): Promise<void> {
  if (names.length === 0) return;
  await tx
    .insertInto('deployment_step')
    .values(names.map((name, position) => ({ id: newId(), deployment_id: deploymentId, position, name })))
    .execute();
}

/** Replaces the steps of a deployment that has not begun. */
export async function replaceSteps(
  tx: Connection,
  deploymentId: string,
  names: readonly string[],
  newId: () => string,
): Promise<void> {
  await tx.deleteFrom('deployment_step').where('deployment_id', '=', deploymentId).execute();
  await insertSteps(tx, deploymentId, names, newId);
}

/** Adds a step to those of a deployment, ahead of another one. */
export async function insertStepBefore(
  tx: Connection,
  deploymentId: string,
  step: { readonly id: string; readonly name: string },
  before: string,
): Promise<void> {
  const rows = await listStepRows(tx, deploymentId);
  const position = rows.find((row) => row.name === before)?.position ?? rows.length;
  await tx
    .updateTable('deployment_step')
    .set((eb) => ({ position: eb('position', '+', 1) }))
    .where('deployment_id', '=', deploymentId)
    .where('position', '>=', position)
    .execute();
  await tx
    .insertInto('deployment_step')
    .values({ ...step, deployment_id: deploymentId, position })
    .execute();
}

export const listStepRows = rowsWhere('deployment_step', 'deployment_id', 'position');

export async function getStepRow(
  db: Connection,
  deploymentId: string,
  name: string,
): Promise<StepRow | undefined> {
  return db
    .selectFrom('deployment_step')
    .selectAll()
    .where('deployment_id', '=', deploymentId)
    .where('name', '=', name)
    .executeTakeFirst();
}

const endedStatuses: readonly StepStatus[] = [
  'TIMEOUT',
  'FAIL',
  'SUCCESS',
  'CANCELLED',
  'SKIPPED',
  'WARNING',
];

/** Whether a step with this status has ended. */
export function hasEnded(status: StepStatus): boolean {
  return endedStatuses.includes(status);
}

/**
 * Sets a step's status and its times. @returns the changed row, or undefined where the deployment has no such
 * step
 */
export async function setStepStatus(
  tx: Connection,
  deploymentId: string,
  name: string,
  status: StepStatus,
  at: Date,
  retryCount?: number,
): Promise<StepRow | undefined> {
  const isEnded = hasEnded(status);
  return tx
    .updateTable('deployment_step')
    .set({
      status,
      started_at:
        status === 'NOT_STARTED' || status === 'SKIPPED' ? sql`started_at` : sql`coalesce(started_at, ${at})`,
      completed_at: isEnded && status !== 'SKIPPED' ? at : null,
      ...(retryCount === undefined ? {} : { retry_count: retryCount }),
    })
    .where('deployment_id', '=', deploymentId)
    .where('name', '=', name)
    .returningAll()
    .executeTakeFirst();
}

/** Lets a step that has ended run once more: its times are those of the last run. @returns the changed row */
export async function restartStep(
  tx: Connection,
  deploymentId: string,
  name: string,
  at: Date,
): Promise<StepRow | undefined> {
  return tx
    .updateTable('deployment_step')
    .set({ status: 'IN_PROGRESS', started_at: at, completed_at: null })
    .where('deployment_id', '=', deploymentId)
    .where('name', '=', name)
    .returningAll()
    .executeTakeFirst();
}

/** Ends the steps that a deployment leaves running when it ends. @returns the changed rows */
export async function endRunningSteps(
  tx: Connection,
  deploymentId: string,
  status: StepStatus,
  at: Date,
): Promise<StepRow[]> {
  return tx
    .updateTable('deployment_step')
    .set({ status, completed_at: at })
    .where('deployment_id', '=', deploymentId)
    .where('status', 'in', ['IN_PROGRESS', 'WAITING_FOR_USER'])
    .returningAll()
    .execute();
}

export interface LogSlice {
  readonly firstByte: number;
  readonly bytes: Buffer;
  readonly storedAt: Date;
}

/**
 * Bytes of a step's log from an offset on, cut at chunk borders of the store.
 * @param maximumBytes about how much is read; at least one chunk is
 */
export async function readLog(
  db: Connection,
  stepId: string,
  from: number,
  maximumBytes: number,
): Promise<LogSlice[]> {
  const rows = await db
    .selectFrom('log_chunk')
    .select(['first_byte', 'bytes', 'stored_at'])
    .where('step_id', '=', stepId)
    .where((eb) =>
      eb(
        'first_byte',
        '>=',
        eb.fn.coalesce(
          eb
            .selectFrom('log_chunk as before')
            .select((inner) => inner.fn.max('before.first_byte').as('first'))
            .where('before.step_id', '=', stepId)
            .where('before.first_byte', '<=', from),
          eb.val(0),
        ),
      ),
    )
    .where('first_byte', '<', from + maximumBytes)
    .orderBy('first_byte')
    .execute();
  return rows
    .map((row) => ({
      firstByte: Math.max(from, row.first_byte),
      bytes: row.bytes.subarray(Math.max(0, from - row.first_byte)),
      storedAt: row.stored_at,
    }))
    .filter((slice) => slice.bytes.length > 0);
}

/** Appends to the log of a step what the service says itself, where no agent runs. */
export async function appendLog(
  tx: Connection,
  deploymentId: string,
  name: string,
  text: string,
): Promise<void> {
  const bytes = Buffer.from(text);
  const step = await tx
    .updateTable('deployment_step')
    .set((eb) => ({ log_bytes: eb('log_bytes', '+', bytes.length) }))
    .where('deployment_id', '=', deploymentId)
    .where('name', '=', name)
    .returning(['id', 'log_bytes'])
    .executeTakeFirst();
  if (!step) return;
  const row = { step_id: step.id, first_byte: step.log_bytes - bytes.length, bytes };
  await tx.insertInto('log_chunk').values(row).execute();
}

/** Steps that nothing has to be done for. */
export async function skipSteps(tx: Connection, deploymentId: string): Promise<void> {
  await tx
    .updateTable('deployment_step')
    .set({ status: 'SKIPPED' })
    .where('deployment_id', '=', deploymentId)
    .execute();
}

/** The steps that have not begun, and will not. @returns them as they are now */
export async function skipRemainingSteps(tx: Connection, deploymentId: string): Promise<StepRow[]> {
  return tx
    .updateTable('deployment_step')
    .set({ status: 'SKIPPED' })
    .where('deployment_id', '=', deploymentId)
    .where('status', '=', 'NOT_STARTED')
    .returningAll()
    .execute();
}

/** All steps start again, also those that were skipped. @returns them as they are now */
export async function restartAllSteps(tx: Connection, deploymentId: string): Promise<StepRow[]> {
  return tx
    .updateTable('deployment_step')
    .set({ status: 'NOT_STARTED', started_at: null, completed_at: null })
    .where('deployment_id', '=', deploymentId)
    .returningAll()
    .execute();
}

/** Steps that a lost attempt had begun start again: of a plan all, of an apply the one that it was at. */
export async function restartSteps(
  tx: Connection,
  deploymentId: string,
  phase: 'plan' | 'apply',
): Promise<void> {
  await tx
    .updateTable('deployment_step')
    .set({ status: 'NOT_STARTED', started_at: null, completed_at: null })
    .where('deployment_id', '=', deploymentId)
    .where((eb) => (phase === 'plan' ? eb('status', '<>', 'SKIPPED') : eb('status', '=', 'IN_PROGRESS')))
    .execute();
}

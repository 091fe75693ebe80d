/** SQL of the locks that tools outside of runs hold on an environment's state; deployments wait for them. */
import type { Selectable } from 'kysely';
import type { Connection } from '../../framework/context.ts';
import type { StateLockTable } from '../schema.ts';

export type StateLockRow = Selectable<StateLockTable>;

export async function getStateLock(db: Connection, environmentId: string): Promise<StateLockRow | undefined> {
  return db
    .selectFrom('state_lock')
    .selectAll()
    .where('environment_id', '=', environmentId)
    .executeTakeFirst();
}

/** Locks by environment; environments without one are missing. */
export async function getStateLocks(
  db: Connection,
  environmentIds: readonly string[],
): Promise<Map<string, StateLockRow>> {
  if (environmentIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('state_lock')
    .selectAll()
    .where('environment_id', 'in', [...environmentIds])
    .execute();
  return new Map(rows.map((row) => [row.environment_id, row]));
}

export interface NewStateLock {
  readonly environmentId: string;
  readonly lockId: string;
  /** Self-description of the tool, as it sends it. */
  readonly info: Record<string, unknown>;
  readonly heldBy: string;
  readonly at: Date;
}

export async function insertStateLock(tx: Connection, lock: NewStateLock): Promise<StateLockRow> {
  return tx
    .insertInto('state_lock')
    .values({
      environment_id: lock.environmentId,
      lock_id: lock.lockId,
      info: JSON.stringify(lock.info),
      held_by: lock.heldBy,
      held_since: lock.at,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function deleteStateLock(tx: Connection, environmentId: string): Promise<void> {
  await tx.deleteFrom('state_lock').where('environment_id', '=', environmentId).execute();
}

/** The holder, start and purpose of a lock, as a sentence without its end. */
export function lockInWords(lock: StateLockRow): string {
  const { Who: who, Operation: operation } = lock.info as { Who?: unknown; Operation?: unknown };
  const by = typeof who === 'string' && who !== '' ? `${who} (key ${lock.held_by})` : `key ${lock.held_by}`;
  const work = typeof operation === 'string' && operation !== '' ? ` for ${operation}` : '';
  return `The state has been locked by ${by} since ${lock.held_since.toISOString()}${work}`;
}

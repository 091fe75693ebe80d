/** SQL of the outbox. */
import { type Selectable, sql } from 'kysely';
import type { Connection } from '../../framework/context.ts';
import { storable } from '../../ground/database/storable.ts';
import { deleteById } from '../row-queries.ts';
import type { EffectTable } from '../schema.ts';

export type EffectRow = Selectable<EffectTable>;

export async function insertEffect(
  tx: Connection,
  effect: { readonly id: string; readonly kind: string; readonly payload: unknown; readonly at: Date },
  dueAt: Date,
): Promise<void> {
  await tx
    .insertInto('effect')
    .values({
      id: effect.id,
      kind: effect.kind,
      payload: JSON.stringify(effect.payload),
      created_at: effect.at,
      due_at: dueAt,
    })
    .execute();
}

function openEffects(db: Connection, kinds: readonly string[]) {
  return db
    .selectFrom('effect')
    .where('failed_at', 'is', null)
    .where('kind', 'in', [...kinds])
    .orderBy('due_at');
}

const mostCandidates = 32;

function dueEffects(db: Connection, kinds: readonly string[], now: Date) {
  return openEffects(db, kinds).where('due_at', '<=', now);
}

/** @returns the effect, unless another server has it, or had it since it was seen */
async function claimEffect(
  tx: Connection,
  id: string,
  { kinds, now }: { readonly kinds: readonly string[]; readonly now: Date },
): Promise<EffectRow | undefined> {
  // Sent together; the second sees what the previous holder of the lock has committed.
  const [{ rows }, row] = await Promise.all([
    sql<{ is_ours: boolean }>`
      select pg_try_advisory_xact_lock(hashtextextended(${`effect ${id}`}, 0)) as is_ours`.execute(tx),
    dueEffects(tx, kinds, now).selectAll().where('id', '=', id).executeTakeFirst(),
  ]);
  return rows[0]?.is_ours === true ? row : undefined;
}

/**
 * An effect that is due, and locked until the transaction ends; those that other servers have are skipped. The
 * transaction gets no id by that, as it would by the lock of a row: readers of events wait for the oldest id.
 */
export async function claimDueEffect(
  tx: Connection,
  kinds: readonly string[],
  now: Date,
): Promise<EffectRow | undefined> {
  const taken: string[] = [];
  for (;;) {
    let candidates = dueEffects(tx, kinds, now).select('id').limit(mostCandidates);
    if (taken.length > 0) candidates = candidates.where('id', 'not in', taken);
    const rows = await candidates.execute();
    for (const { id } of rows) {
      const effect = await claimEffect(tx, id, { kinds, now });
      if (effect) return effect;
      taken.push(id);
    }
    if (rows.length < mostCandidates) return undefined;
  }
}

/** When the next effect is due; undefined where none is open. Effects that are due already do not count. */
export async function nextDueAt(
  db: Connection,
  kinds: readonly string[],
  now: Date,
): Promise<Date | undefined> {
  const row = await openEffects(db, kinds)
    .select('due_at')
    .where('due_at', '>', now)
    .limit(1)
    .executeTakeFirst();
  return row?.due_at;
}

export const deleteEffect = deleteById('effect');

export async function postponeEffect(tx: Connection, id: string, dueAt: Date): Promise<void> {
  await tx.updateTable('effect').set({ due_at: dueAt }).where('id', '=', id).execute();
}

/** @param failedAt set where this was the last attempt */
export async function storeFailure(
  tx: Connection,
  id: string,
  failure: {
    readonly attempts: number;
    readonly error: string;
    readonly dueAt: Date;
    readonly failedAt: Date | null;
  },
): Promise<void> {
  await tx
    .updateTable('effect')
    .set({
      attempts: failure.attempts,
      // A failure that cannot be stored would not count.
      last_error: storable(failure.error),
      due_at: failure.dueAt,
      failed_at: failure.failedAt,
    })
    .where('id', '=', id)
    .execute();
}

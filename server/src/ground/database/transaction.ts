/** Transactions that are tried again when PostgreSQL ends them for another one's sake. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Kysely, Transaction } from 'kysely';
import type { Schema } from '../../rows/schema.ts';
import { pipelineOf } from './pipeline.ts';

const mostAttempts = 4;
/** serialization_failure, deadlock_detected */
const temporaryFailures = new Set(['40001', '40P01']);

/** Hooks around the commit of each open transaction. */
interface Open {
  readonly before: (() => Promise<void>)[];
  readonly after: (() => void)[];
}

const open = new WeakMap<Kysely<Schema>, Open>();

/**
 * Runs `work` in a transaction; inside of one, in that one. After a serialization failure or a deadlock it
 * runs again, at most three times: `work` changes nothing but the database.
 * @param context whose `db` is a connection or a transaction
 * @param work gets the same context with the transaction as its `db`
 * @returns what `work` returns
 */
export async function inTransaction<Outer extends { readonly db: Kysely<Schema> }, Result>(
  context: Outer,
  work: (context: Outer & { readonly db: Transaction<Schema> }) => Promise<Result>,
): Promise<Result> {
  const { db } = context;
  if (db.isTransaction) return work({ ...context, db: db as Transaction<Schema> });
  for (let attempt = 1; ; attempt++) {
    const failures: Promise<unknown>[] = [];
    try {
      const around: Open = { before: [], after: [] };
      const result = await db.transaction().execute(async (serial) => {
        const { tx, close } = await pipelineOf(serial);
        open.set(tx, around);
        try {
          const made = await work({ ...context, db: tx });
          // Sent together with the commit, which becomes a rollback if one of them fails.
          for (const finish of around.before) failures.push(failureOf(finish()));
          return made;
        } finally {
          close();
        }
      });
      // A failure of a statement was one of the commit, too; any other must not remain unnoticed.
      const unnoticed = await firstOf(failures);
      if (unnoticed !== undefined) throw unnoticed as Error;
      for (const follow of around.after) follow();
      return result;
    } catch (failure) {
      const error = (await firstOf(failures)) ?? failure;
      const isTemporary = temporaryFailures.has(sqlState(error)) || isStalePlan(error);
      if (attempt === mostAttempts || !isTemporary) throw error;
      await delay(Math.random() * 20 * attempt);
    }
  }
}

async function firstOf(failures: readonly Promise<unknown>[]): Promise<unknown> {
  return (await Promise.all(failures)).find((each) => each !== undefined);
}

function failureOf(sent: Promise<void>): Promise<unknown> {
  return sent.then(
    () => undefined,
    (error: unknown) => error,
  );
}

/**
 * Runs `follow` once the transaction has committed, and never if it is rolled back: for the log, not for
 * anything that must happen. Outside of `inTransaction` it runs immediately.
 */
export function afterCommit(db: Kysely<Schema>, follow: () => void): void {
  const around = open.get(db);
  if (around) around.after.push(follow);
  else follow();
}

/**
 * Runs `finish` as the last part of a transaction, before its commit.
 * @returns false outside of `inTransaction`, where nothing can run later
 */
export function beforeCommit(db: Kysely<Schema>, finish: () => Promise<void>): boolean {
  return (open.get(db)?.before.push(finish) ?? 0) > 0;
}

/**
 * Sends statements together with the commit: their answers are not waited for. Outside of `inTransaction` they run
 * immediately.
 * @param send makes the statements, in their order
 */
export async function withCommit(db: Kysely<Schema>, send: () => readonly Promise<unknown>[]): Promise<void> {
  const all = async () => {
    await Promise.all(send());
  };
  if (!beforeCommit(db, all)) await all();
}

/** Whether a prepared statement was refused because a migration has changed what it returns. */
export function isStalePlan(error: unknown): boolean {
  return sqlState(error) === '0A000' && error instanceof Error && error.message.startsWith('cached plan');
}

/** The five-character code of a PostgreSQL error; empty for any other. */
export function sqlState(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

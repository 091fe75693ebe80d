/** Transactions that are tried again when PostgreSQL ends them for another one's sake. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Kysely, Transaction } from 'kysely';
import type { Schema } from './schema.ts';

const mostAttempts = 4;
/** serialization_failure, deadlock_detected */
const passingFailures = new Set(['40001', '40P01']);

/**
 * Runs `work` in a transaction; inside of one, in that one. After a serialization failure or a deadlock it
 * runs again, at most three times: `work` changes nothing but the database.
 * @param db a connection or a transaction
 * @returns what `work` returns
 */
export async function inTransaction<Result>(
  db: Kysely<Schema> | Transaction<Schema>,
  work: (tx: Transaction<Schema>) => Promise<Result>,
): Promise<Result> {
  if (db.isTransaction) return work(db as Transaction<Schema>);
  for (let attempt = 1; ; attempt++) {
    try {
      return await db.transaction().execute(work);
    } catch (error) {
      if (attempt === mostAttempts || !passingFailures.has(sqlState(error))) throw error;
      await delay(Math.random() * 20 * attempt);
    }
  }
}

/** The five-character code of a PostgreSQL error; empty for any other. */
export function sqlState(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

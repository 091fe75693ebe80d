/** Locks of the database, for tests of what happens at the same time. */
import { until } from '../../tools/suite/until.ts';
import type { Database } from '../src/ground/database/open.ts';

/**
 * Waits until a transaction waits for a lock that another one holds; other databases of the same server do not count.
 * @throws AssertionError after ten seconds
 */
export function untilTransactionWaits({ pool }: Pick<Database, 'pool'>): Promise<void> {
  const isWaiting = async () => {
    const { rows } = await pool.query(
      'select 1 from pg_locks where not granted and database = (select oid from pg_database where datname = current_database()) or (not granted and database is null)',
    );
    return rows.length > 0;
  };
  return until('the wait of a transaction for a lock', isWaiting, 10);
}

/**
 * Response that arrives while another transaction has done something and not ended, which then ends.
 * @throws AssertionError if the request does not wait for it
 */
export async function duringTransaction<Reply>(
  database: Pick<Database, 'pool'>,
  statement: string,
  values: readonly unknown[],
  request: () => Promise<Reply>,
): Promise<Reply> {
  const other = await database.pool.connect();
  try {
    await other.query('begin');
    await other.query(statement, [...values]);
    const reply = request();
    await untilTransactionWaits(database);
    await other.query('commit');
    return await reply;
  } finally {
    other.release();
  }
}

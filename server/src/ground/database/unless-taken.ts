/** Writes that fail if another row has just received the name. */
import { sqlState } from './transaction.ts';

const uniqueViolation = '23505';

/**
 * @param write of one row whose name is unique
 * @returns what was written; undefined where another row has the name: the transaction has to end then
 */
export async function unlessTaken<Row>(write: Promise<Row>): Promise<Row | undefined> {
  try {
    return await write;
  } catch (error) {
    if (sqlState(error) === uniqueViolation) return undefined;
    throw error;
  }
}

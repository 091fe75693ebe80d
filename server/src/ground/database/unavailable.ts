/** Tells failures of the database that pass, or that its operator ends, from those of a request. */
import pg from 'pg';
import { sqlState } from './transaction.ts';

const busy = 'The database is busy, and the request was given up: try again later';
const away =
  'The database does not answer: try again later. If the request was to change something, check first ' +
  'whether it did';

/** By the five-character code of a PostgreSQL error, or by its class. */
const reasons: Readonly<Record<string, string>> = {
  // query_canceled, lock_not_available, idle_in_transaction_session_timeout
  '57014': busy,
  '55P03': busy,
  '25P03': busy,
  // admin_shutdown, crash_shutdown, cannot_connect_now, database_dropped
  '57P': away,
  '08': away,
  '53300': 'The database has no connection left: try again later, or raise its max_connections',
  '53100': 'The disk of the database is full: make room there, then try again',
  '53200': 'The database is out of memory: try again later',
  '25006':
    'The database is read-only, as a standby is: connect the service to the primary (DATABASE_URL), or try again later',
};

/** Of a connection that cannot be made, or breaks. */
const brokenCodes = new Set(['ECONNREFUSED', 'ECONNRESET', 'ENOENT', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH']);
const socketCalls = new Set(['connect', 'read', 'write']);
/** Errors of the client library without a code. */
const brokenMessages =
  /^(Connection terminated|Client has encountered a connection error|Client was closed|Query read timeout)/;
const noConnection = 'timeout exceeded when trying to connect';

/**
 * Whether, and why, the database cannot serve now, whatever the statement was.
 * @returns a sentence that says what to do; null for errors that repeating does not mend
 */
export function whyUnavailable(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  const code = sqlState(error);
  const reason = reasons[code] ?? reasons[code.slice(0, 3)] ?? reasons[code.slice(0, 2)];
  if (reason !== undefined) return reason;
  if (error.message === noConnection) return busy;
  const isBroken = brokenCodes.has(code) && 'syscall' in error && socketCalls.has(String(error.syscall));
  return isBroken || brokenMessages.test(error.message) ? away : null;
}

/** Whether the database or its connection failed, and with it the transaction: errors of programs have codes, too. */
export function isOfDatabase(error: unknown): boolean {
  return error instanceof pg.DatabaseError || whyUnavailable(error) !== null;
}

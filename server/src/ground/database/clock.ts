/**
 * The time of the database: the one clock that all servers share. Contact, stamps, leases and timers are
 * compared between servers, and the clocks of two machines may differ by more than the silence that is
 * judged.
 */
import { type Kysely, sql } from 'kysely';
import type { Schema } from '../../rows/schema.ts';

/** Smaller differences are the way to the database and back: on one machine the clock is its own. */
const smallestCorrection = 250;
export const clockEverySeconds = 30;

export interface DatabaseClock {
  now(): Date;
  /** Compares the two clocks again. */
  compare(): Promise<void>;
}

/** The time at which the process started, and what has passed since. */
function steadyNow(): number {
  return performance.timeOrigin + performance.now();
}

/**
 * @param read the machine's own clock, in milliseconds since the epoch; default: one that no one can set, so that a
 *   correction of the machine's clock fires no timer
 * @returns a clock that has been compared once
 */
export async function openClock(db: Kysely<Schema>, read: () => number = steadyNow): Promise<DatabaseClock> {
  let ahead = 0;
  const compare = async (): Promise<void> => {
    const sentAt = read();
    const { rows } = await sql<{ now: Date }>`select clock_timestamp() as now`.execute(db);
    const difference = (rows[0]?.now.getTime() ?? sentAt) - (sentAt + read()) / 2;
    if (Math.abs(difference - ahead) >= smallestCorrection)
      ahead = Math.abs(difference) < smallestCorrection ? 0 : difference;
  };
  await compare();
  return { now: () => new Date(read() + ahead), compare };
}

/**
 * Sends the versions of the state that a runner copies: the newest at most once a second, and always the
 * last.
 */
import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { StateQuery, StateReply } from '#protocol/messages/attempt.ts';
import type { Job } from '#protocol/messages/job.ts';
import type { SpoolPaths } from '../spool/layout.ts';
import { newestStateNumber, readNewestState } from '../spool/read-attempt.ts';
import type { Completion } from './completion.ts';
import type { Wake } from './wake.ts';

const pauseMilliseconds = 1_000;
const pollMilliseconds = 1_000;

export interface StateShipment {
  readonly paths: SpoolPaths;
  readonly job: Job;
  readonly send: (query: Omit<StateQuery, 'fence'>, bytes: Uint8Array) => Promise<StateReply>;
  readonly wake: Wake;
  readonly completion: Completion;
  readonly signal: AbortSignal;
}

/**
 * Follows the state until the attempt's end, and sends the last version as final.
 * @returns the id of the version that holds the attempt's state: its own, the unchanged one that it started
 * with, or none
 * @throws what `send` throws, and the signal's reason
 */
export async function shipState(shipment: StateShipment): Promise<string | undefined> {
  const waiter = shipment.wake.waiter();
  let sent = -1;
  while (!shipment.completion.isReached()) {
    shipment.signal.throwIfAborted();
    const newest = await newestStateNumber(shipment.paths);
    if (newest !== null && newest > sent) {
      const version = await readNewestState(shipment.paths);
      if (version && !isUnchanged(shipment.job, version.bytes))
        await shipment.send(queryOf(shipment.job, version.bytes, 'running'), version.bytes);
      sent = version?.number ?? sent;
      await Promise.race([delay(pauseMilliseconds, undefined, { ref: false }), shipment.completion.reached]);
    } else await waiter.wait(pollMilliseconds);
  }
  return sendFinalState(shipment);
}

/** Sends the last version; safe to be called again. */
export async function sendFinalState(
  shipment: Pick<StateShipment, 'paths' | 'job' | 'send'>,
): Promise<string | undefined> {
  const last = await readNewestState(shipment.paths);
  const found = shipment.job.state.current?.stateVersionId;
  if (!last || isUnchanged(shipment.job, last.bytes)) return found;
  const reply = await shipment.send(queryOf(shipment.job, last.bytes, 'final'), last.bytes);
  return reply.stateVersionId;
}

export function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function isUnchanged(job: Job, bytes: Uint8Array): boolean {
  return job.state.current?.sha256 === sha256Of(bytes);
}

function queryOf(job: Job, bytes: Uint8Array, moment: StateQuery['moment']): Omit<StateQuery, 'fence'> {
  return { sha256: sha256Of(bytes), follows: job.state.current?.stateVersionId ?? '', moment };
}

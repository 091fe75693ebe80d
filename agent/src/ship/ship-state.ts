/**
 * Sends the versions of the state that a runner copies: the newest at most once a second, and always the
 * last.
 */
import { mkdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { sha256 } from '#protocol/approved.ts';
import type { StateQuery, StateReply } from '#protocol/messages/attempt.ts';
import type { Job } from '#protocol/messages/job.ts';
import type { FinishRest } from '#protocol/messages/outcome.ts';
import { ServerRefusal } from '../connection/refusals.ts';
import type { AttemptWake } from '../processes/wake.ts';
import { refusedStatesName } from '../slots/kept-failures.ts';
import type { SpoolPaths } from '../spool/layout.ts';
import { newestStateNumber, readNewestState } from '../spool/read-attempt.ts';
import { writeDurably } from '../spool/write-file.ts';
import type { Completion } from './completion.ts';

const pauseMilliseconds = 1_000;
/** A short run has ended by then, and sends its state once. */
const firstPauseMilliseconds = 150;
const pollMilliseconds = 1_000;

export interface StateShipment {
  readonly paths: SpoolPaths;
  readonly job: Job;
  readonly send: (query: Omit<StateQuery, 'fence'>, bytes: Uint8Array) => Promise<StateReply>;
  readonly wake: AttemptWake;
  readonly completion: Completion;
  readonly signal: AbortSignal;
  /** A last state of at most this size is returned instead of sent. */
  readonly leftBytes: number;
}

/** The result of sending an attempt's state. */
export interface StateEnd {
  /** The version that holds it: its own, the unchanged one that it started with, or none. */
  readonly stateVersionId?: string | undefined;
  /** Why the server does not accept it, and where it is kept, as sentences. */
  readonly notStored?: string;
  /** The last state, not sent yet. */
  readonly left?: NonNullable<FinishRest['state']>;
}

/** A state that is too large or not readable is refused however often it is sent. */
function isAboutState(error: unknown): error is ServerRefusal {
  return error instanceof ServerRefusal && [400, 413].includes(error.status);
}

/**
 * Follows the state until the attempt's end, and sends the last version as final.
 * @throws what `send` throws other than a refusal of the state itself, and the signal's reason
 */
export async function shipState(shipment: StateShipment): Promise<StateEnd> {
  const waiter = shipment.wake.waiter('state');
  let sent = -1;
  while (!shipment.completion.isReached()) {
    shipment.signal.throwIfAborted();
    const newest = await newestStateNumber(shipment.paths);
    if (newest !== null && newest > sent) {
      if (sent < 0)
        await Promise.race([
          delay(firstPauseMilliseconds, undefined, { ref: false }),
          shipment.completion.reached,
        ]);
      if (shipment.completion.isReached()) break;
      const version = await readNewestState(shipment.paths);
      const query = version && queryOf(shipment.job, version.bytes, 'running');
      if (query) await sendRunning(shipment, query, version.bytes);
      sent = version?.number ?? sent;
      await Promise.race([delay(pauseMilliseconds, undefined, { ref: false }), shipment.completion.reached]);
    } else await waiter.wait(pollMilliseconds);
  }
  return sendFinalState(shipment);
}

/** A version that is refused is followed by others; the last one decides. */
async function sendRunning(
  { send }: StateShipment,
  query: Omit<StateQuery, 'fence'>,
  bytes: Uint8Array,
): Promise<void> {
  try {
    await send(query, bytes);
  } catch (error) {
    if (!isAboutState(error)) throw error;
  }
}

/** Sends the last version, or keeps it in the spool folder if it is refused; safe to be called again. */
export async function sendFinalState({
  paths,
  job,
  send,
  leftBytes = -1,
}: Pick<StateShipment, 'paths' | 'job' | 'send'> & { leftBytes?: number }): Promise<StateEnd> {
  const last = await readNewestState(paths);
  const query = last && queryOf(job, last.bytes, 'final');
  if (!query) return { stateVersionId: job.state.current?.stateVersionId };
  if (last.bytes.length <= leftBytes) {
    const { sha256, follows } = query;
    return { left: { sha256, follows, base64: Buffer.from(last.bytes).toString('base64') } };
  }
  try {
    return { stateVersionId: (await send(query, last.bytes)).stateVersionId };
  } catch (error) {
    if (!isAboutState(error)) throw error;
    const file = await keepState(paths, last.bytes);
    return {
      notStored:
        `The state of this run was not stored: ${error.message}. ` +
        `It is kept on the agent's host in ${file}: import it before the next deployment`,
    };
  }
}

/** Keeps the last state, if there is one, where it outlives the attempt's folder. */
export async function keepLastState(paths: SpoolPaths): Promise<void> {
  const last = await readNewestState(paths);
  if (last) await keepState(paths, last.bytes);
}

/** Outlives the attempt's folder. */
async function keepState({ folder }: SpoolPaths, bytes: Uint8Array): Promise<string> {
  const kept = join(dirname(dirname(folder)), refusedStatesName);
  await mkdir(kept, { recursive: true, mode: 0o700 });
  const file = join(kept, `${basename(folder)}.tfstate`);
  await writeDurably(file, bytes);
  return file;
}

/** @returns null for the state that the attempt started with */
function queryOf(
  { state: { current } }: Job,
  bytes: Uint8Array,
  moment: StateQuery['moment'],
): Omit<StateQuery, 'fence'> | null {
  const hash = sha256(bytes);
  return hash === current?.sha256 ? null : { sha256: hash, follows: current?.stateVersionId ?? '', moment };
}

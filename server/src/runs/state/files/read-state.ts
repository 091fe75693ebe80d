/** Reads states, which come from runs and third parties: large ones in a thread with limits of time and memory. */
import fastq from 'fastq';
import type { ByteRange } from '#guards/json-bytes.ts';
import { askOnce, ThreadFailure, type ThreadProgram } from '#guards/threads/limited-thread.ts';
import type { StateFacts } from '#protocol/tools/tool.ts';
import { type ReadMode, readState } from './state-formats.ts';
import type { AnswerAboutState, StateTask } from './state-thread.ts';

export type { StateFacts } from '#protocol/tools/tool.ts';

/** Smaller ones take at most some tens of milliseconds, whatever they contain. */
export const smallBytes = 2 * 1024 * 1024;

/** Its memory is more than the values that the thread accepts can need. */
export const stateThread: ThreadProgram = {
  program: new URL('./state-thread.ts', import.meta.url),
  seconds: 60,
  megabytes: 4096,
};

/**
 * Work on large states, each of which needs memory for a whole state and for a thread.
 * @param atOnce how much of it is done at a time
 * @returns does some work when its turn comes, and throws what the work throws
 */
export function turnsOf(atOnce: number): <Result>(work: () => Promise<Result>) => Promise<Result> {
  const turns = fastq.promise((work: () => Promise<unknown>) => work(), atOnce);
  return async <Result>(work: () => Promise<Result>) => (await turns.push(work)) as Result;
}

const inTurn = turnsOf(2);

/** A state and what is known of it. */
export interface ReadState {
  readonly facts: StateFacts;
  /** Position of its serial in the bytes. */
  readonly serialPlace: ByteRange;
  readonly bytes: Buffer<ArrayBuffer>;
}

/** Large bytes go to the thread and come back in other memory: for a while, there is no copy of them. */
async function read(reading: ReadMode, bytes: Buffer<ArrayBuffer>): Promise<ReadState> {
  if (bytes.length <= smallBytes) return { ...readState(reading, bytes), bytes };
  const sent = { reading, bytes: new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length) };
  try {
    const ask = () => askOnce<StateTask, AnswerAboutState>(stateThread, sent, [bytes.buffer]);
    const { bytes: back, ...found } = await inTurn(ask);
    return { ...found, bytes: Buffer.from(back.buffer, back.byteOffset, back.length) };
  } catch (error) {
    if (!(error instanceof ThreadFailure)) throw error;
    throw new Error(`reading failed: ${error.message}`, { cause: error });
  }
}

/**
 * @param bytes not usable afterwards: those that are returned are
 * @throws Error that says why the bytes are not a state
 */
export function readStateFacts(bytes: Buffer<ArrayBuffer>): Promise<ReadState> {
  return read('read', bytes);
}

/**
 * Checks every part of a state that a person or a tool outside of runs sends.
 * @param bytes not usable afterwards: those that are returned are
 * @throws Error that completes "…: " with what is wrong with it
 */
export function checkStateFile(bytes: Buffer<ArrayBuffer>): Promise<ReadState> {
  return read('check', bytes);
}

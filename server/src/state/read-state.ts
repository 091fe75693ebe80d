/** Reads states, which runs and strangers write: large ones in a thread with limits of time and memory. */
import { askOnce, ThreadFailure, type ThreadProgram } from '#guards/threads/limited-thread.ts';
import type { StateFacts } from '#protocol/tools/tool.ts';
import { type Reading, readIn } from './state-formats.ts';
import type { StateTask } from './state-thread.ts';

export type { StateFacts } from '#protocol/tools/tool.ts';

/** Smaller ones take at most some tens of milliseconds, whatever they contain. */
export const smallBytes = 2 * 1024 * 1024;

/** Its memory is more than the values that the thread accepts can need. */
export const stateThread: ThreadProgram = {
  program: new URL('./state-thread.ts', import.meta.url),
  seconds: 60,
  megabytes: 4096,
};

async function read(reading: Reading, bytes: Uint8Array): Promise<StateFacts> {
  if (bytes.length <= smallBytes) return readIn(reading, bytes);
  try {
    return await askOnce<StateTask, StateFacts>(stateThread, { reading, bytes });
  } catch (error) {
    if (!(error instanceof ThreadFailure)) throw error;
    throw new Error(`reading failed: ${error.message}`, { cause: error });
  }
}

/** @throws Error that says why the bytes are not a state */
export function readStateFacts(bytes: Uint8Array): Promise<StateFacts> {
  return read('read', bytes);
}

/**
 * Checks every part of a state that a person or a tool outside of runs sends.
 * @throws Error that completes "…: " with what is wrong with it
 */
export function checkStateFile(bytes: Uint8Array): Promise<StateFacts> {
  return read('check', bytes);
}

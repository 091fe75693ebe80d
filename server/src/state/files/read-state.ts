/** Reads and renumbers states, which runs and strangers write: large ones in a thread with limits of time and memory. */
import { askOnce, ThreadFailure, type ThreadProgram } from '#guards/threads/limited-thread.ts';
import type { StateFacts } from '#protocol/tools/tool.ts';
import { type Reading, readIn } from './state-formats.ts';
import type { StateTask } from './state-thread.ts';
import { type Place, topLevelPlace, withNumber } from './top-level-fields.ts';

export type { StateFacts } from '#protocol/tools/tool.ts';

/** Smaller ones take at most some tens of milliseconds, whatever they contain. */
export const smallBytes = 2 * 1024 * 1024;

/** Its memory is more than the values that the thread accepts can need. */
export const stateThread: ThreadProgram = {
  program: new URL('./state-thread.ts', import.meta.url),
  seconds: 60,
  megabytes: 4096,
};

async function ask<Answer>(bytes: Uint8Array, task: Omit<StateTask, 'bytes'>): Promise<Answer> {
  // A plain copy that is handed over takes a third of the time that cloning it in the message does.
  const copy = new Uint8Array(bytes);
  try {
    return await askOnce<unknown, Answer>(stateThread, { ...task, bytes: copy }, [copy.buffer]);
  } catch (error) {
    if (!(error instanceof ThreadFailure)) throw error;
    throw new Error(`reading failed: ${error.message}`, { cause: error });
  }
}

async function read(reading: Reading, bytes: Uint8Array): Promise<StateFacts> {
  return bytes.length <= smallBytes ? readIn(reading, bytes) : ask(bytes, { reading });
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

/** The same state under another serial. @throws Error for bytes that are not a state */
export async function renumberState(bytes: Uint8Array, serial: number): Promise<Buffer> {
  const isSmall = bytes.length <= smallBytes;
  const place = isSmall ? topLevelPlace(bytes, 'serial') : await ask<Place>(bytes, { placeOf: 'serial' });
  return withNumber(bytes, place, serial);
}

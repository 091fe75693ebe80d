/** Reads states, which runs and strangers write: large ones in a thread with limits of time and memory. */
import { Worker } from 'node:worker_threads';
import type { StateFacts } from '#protocol/tools/tool.ts';
import { type Reading, readIn } from './state-formats.ts';
import type { ThreadAnswer, ThreadTask } from './state-thread.ts';

export type { StateFacts } from '#protocol/tools/tool.ts';

/** Smaller ones take at most some tens of milliseconds, whatever they contain. */
const smallBytes = 2 * 1024 * 1024;
const timeLimitMilliseconds = 60_000;
const memoryMegabytes = 2048;

async function readInThread(reading: Reading, bytes: Uint8Array): Promise<StateFacts> {
  const thread = new Worker(new URL('./state-thread.ts', import.meta.url), {
    env: {},
    workerData: { reading, bytes } satisfies ThreadTask,
    resourceLimits: { maxOldGenerationSizeMb: memoryMegabytes },
  });
  const { promise, resolve, reject } = Promise.withResolvers<ThreadAnswer>();
  thread.once('message', resolve);
  thread.once('error', (error: NodeJS.ErrnoException) =>
    reject(
      error.code === 'ERR_WORKER_OUT_OF_MEMORY'
        ? new Error(`reading it takes more than ${memoryMegabytes} MB of memory`)
        : error,
    ),
  );
  thread.once('exit', () => reject(new Error('it could not be read')));
  const timer = setTimeout(
    () => reject(new Error(`reading it takes longer than ${timeLimitMilliseconds / 1000} s`)),
    timeLimitMilliseconds,
  );
  try {
    const answer = await promise;
    if (answer.error !== undefined) throw new Error(answer.error);
    return answer.facts;
  } finally {
    clearTimeout(timer);
    await thread.terminate();
  }
}

async function read(reading: Reading, bytes: Uint8Array): Promise<StateFacts> {
  return bytes.length <= smallBytes ? readIn(reading, bytes) : readInThread(reading, bytes);
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

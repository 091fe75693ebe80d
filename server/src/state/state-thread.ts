/** A thread that reads one state, started by `read-state.ts`. */
import { parentPort, workerData } from 'node:worker_threads';
import type { StateFacts } from '#protocol/tools/tool.ts';
import { type Reading, readIn } from './state-formats.ts';

export interface ThreadTask {
  readonly reading: Reading;
  readonly bytes: Uint8Array;
}

export type ThreadAnswer =
  | { readonly facts: StateFacts; readonly error?: undefined }
  | { readonly error: string };

function answer({ reading, bytes }: ThreadTask): ThreadAnswer {
  try {
    return { facts: readIn(reading, bytes) };
  } catch (error) {
    return { error: (error as Error).message };
  }
}

parentPort?.postMessage(answer(workerData as ThreadTask));

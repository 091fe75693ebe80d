/**
 * Parses the HCL files in `workerData` in its own thread: the parser is WebAssembly, starts at import and
 * never ends on its own.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { parse } from '@cdktn/hcl2json';
import type { HclAnswer, HclFile } from './hcl.ts';

/** Sends one answer per file to the parent, in order. */
export async function answerParent(): Promise<void> {
  const answers: HclAnswer[] = [];
  for (const { name, text } of workerData as HclFile[]) {
    try {
      answers.push({ body: await parse(name, text) });
    } catch (error) {
      answers.push({ error: (error as Error).message.replace(/^parse config: /, '') });
    }
  }
  parentPort?.postMessage(answers);
}

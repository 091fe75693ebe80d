/**
 * Parses HCL in a thread of its own: the parser is WebAssembly, starts at import, never ends on its own, and
 * a hostile text can end it or fill its memory.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { parse } from '@cdktn/hcl2json';

export interface HclFile {
  readonly name: string;
  readonly text: string;
}
export type HclAnswer =
  | { readonly body: Record<string, unknown>; readonly error?: undefined }
  | { readonly error: string };

async function answerOf({ name, text }: HclFile): Promise<HclAnswer> {
  try {
    return { body: await parse(name, text) };
  } catch (error) {
    return { error: (error as Error).message.replace(/^parse config: /, '') };
  }
}

/** The work of a thread for one call: one answer for each file of `workerData`, sent to the parent in order. */
export async function answerParent(): Promise<void> {
  const answers: HclAnswer[] = [];
  for (const file of workerData as HclFile[]) answers.push(await answerOf(file));
  parentPort?.postMessage(answers);
}

/** The work of a thread that serves many calls: each message is one file. It first says that it is ready. */
export async function answerEach(): Promise<void> {
  await answerOf({ name: 'first.tfvars', text: 'value = 1\n' });
  parentPort?.postMessage('ready');
  parentPort?.on('message', (file: HclFile) => {
    void answerOf(file).then((answer) => parentPort?.postMessage(answer));
  });
}

/**
 * Parses HCL in a thread of its own: the parser is WebAssembly, starts at import, never ends on its own, and
 * a hostile text can end it or fill its memory.
 */
import { parse } from '@cdktn/hcl2json';
import { answerTasks } from '../threads/answer-tasks.ts';

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

/** The work of a thread: each task is one file. It is ready when the parser is loaded. */
export async function answerEach(): Promise<void> {
  await answerOf({ name: 'first.tfvars', text: 'value = 1\n' });
  answerTasks(answerOf);
}

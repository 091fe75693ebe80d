/**
 * Parses HCL in a thread of its own: the parser is WebAssembly, starts at import, never ends on its own, and
 * a hostile text can end it or fill its memory.
 */
import { parse } from '@cdktn/hcl2json';
import { answerTasks } from '../threads/answer-tasks.ts';
import type { HclFile, HclMessage } from './hcl-answer.ts';

/** Of the JSON of one file. Only numbers such as 1e9999 can make it so long. */
const longestCharacters = 16_000_000;

/** Module that the package loads. Its own function reads the JSON, and rounds numbers. */
interface Parser {
  parse(name: string, text: string, done: (error: string | null, json: string) => void): void;
}

function parser(): Parser {
  return (globalThis as unknown as { __parse_terraform_config_wasm__: Parser })
    .__parse_terraform_config_wasm__;
}

function jsonOf({ name, text }: HclFile): Promise<string> {
  return new Promise((resolve, reject) =>
    parser().parse(name, text, (error, json) => (error ? reject(new Error(error)) : resolve(json))),
  );
}

async function answerOf(file: HclFile): Promise<HclMessage> {
  try {
    const json = await jsonOf(file);
    if (json.length > longestCharacters) return { error: `${file.name}: its numbers have too many digits` };
    return { json };
  } catch (error) {
    // Errors here end the parser, too: the caller starts another one.
    return { error: (error as Error).message.replace(/^parse config: /, '') };
  }
}

/** The work of a thread: each task is one file. It is ready when the parser is loaded. */
export async function answerEach(): Promise<void> {
  await parse('first.tfvars', 'value = 1\n');
  answerTasks(answerOf);
}

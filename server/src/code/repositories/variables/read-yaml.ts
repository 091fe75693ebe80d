/** Reads untrusted YAML and JSON: YAML in a thread with limits. */

import { join } from 'node:path/posix';
import { parseExactly } from '#contract/schema/exact-json.ts';
import { LimitedThread } from '#guards/threads/limited-thread.ts';
import { type DeclaringCode, UnreadableCode } from './row.ts';

const program = {
  program: new URL('./yaml-thread.ts', import.meta.url),
  seconds: 5,
  megabytes: 256,
} as const;

type YamlThread = LimitedThread<string, string>;

function short(error: unknown): string {
  return (error as Error).message.slice(0, 500);
}

/** @throws UnreadableCode that names the file */
async function parse(thread: YamlThread, name: string, text: string): Promise<unknown> {
  try {
    if (/\.json$/i.test(name) || /^\s*\{/.test(text)) return parseExactly(text);
  } catch (error) {
    throw new UnreadableCode(`${name}: it is not valid JSON: ${short(error)}`, { cause: error });
  }
  try {
    return parseExactly(await thread.ask(text));
  } catch (error) {
    throw new UnreadableCode(`${name}: it is not valid YAML: ${short(error)}`, { cause: error });
  }
}

/** A file of the code with what it says. */
export interface ParsedFile {
  readonly name: string;
  readonly content: unknown;
}

/**
 * @param names relative to the folder of the code
 * @returns those that are files, in this order
 * @throws UnreadableCode that names the file
 */
export async function parseFiles(
  { tree, path, signal }: DeclaringCode,
  names: readonly string[],
): Promise<ParsedFile[]> {
  const texts = await tree.read(names.map((name) => join(path, name)));
  // Starting one takes longer than reading most files.
  await using thread: YamlThread = new LimitedThread(program);
  const parsed: ParsedFile[] = [];
  for (const name of names) {
    signal.throwIfAborted();
    const text = texts.get(join(path, name));
    if (text !== undefined) parsed.push({ name, content: await parse(thread, name, text) });
  }
  return parsed;
}

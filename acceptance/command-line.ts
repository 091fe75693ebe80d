/** Commands against a service, in the process of the tests: starting the program takes longer than most of them. */
import assert from 'node:assert/strict';
import { type CommandResult, runCommand } from '../cli/testing/run-command.ts';

/** A service with a key, and a folder for what commands keep. */
export interface CommandTarget {
  readonly url: string;
  readonly key: string;
  readonly secret: string;
  readonly folder: string;
}

/** A command as a person types it, without quotes: a value is one word or a part of one, a list is several words. */
export type TypedWords = [texts: TemplateStringsArray, ...values: readonly (string | readonly string[])[]];

/** The words of a command. */
export function wordsOf(...[texts, ...values]: TypedWords): string[] {
  const words = [{ text: '', hasValue: false }];
  for (const [index, typed] of texts.entries()) {
    const [head = '', ...tail] = typed.split(/\s+/);
    words[words.length - 1]!.text += head;
    words.push(...tail.map((text) => ({ text, hasValue: false })));
    const value = values[index];
    if (typeof value === 'string') {
      const last = words.at(-1)!;
      words[words.length - 1] = { text: last.text + value, hasValue: true };
    } else words.push(...(value ?? []).map((text) => ({ text, hasValue: true })));
  }
  return words.filter(({ text, hasValue }) => hasValue || text !== '').map(({ text }) => text);
}

export interface CommandLine {
  /** @param login variables instead of those with the key of the service @param stdin for standard input */
  run(
    args: readonly string[],
    login?: Readonly<Record<string, string>>,
    stdin?: string,
  ): Promise<CommandResult>;
  envarium(...typed: TypedWords): Promise<CommandResult>;
  /** @returns standard output; fails unless the status is 0 */
  good(...typed: TypedWords): Promise<string>;
  /** @returns standard error of a wrong call; fails unless the status is 2 */
  bad(...typed: TypedWords): Promise<string>;
  /** @returns the reply; fails unless the status is 0 */
  json<Reply>(...typed: TypedWords): Promise<Reply>;
}

/** @param target called for each command, so that it may start later */
export function commandLine(target: () => CommandTarget): CommandLine {
  const run: CommandLine['run'] = (args, login, stdin) => {
    const { url, key, secret, folder } = target();
    const own = { ENVARIUM_API_URL: url, ENVARIUM_API_KEY: key, ENVARIUM_API_SECRET: secret };
    const env = { PATH: process.env.PATH ?? '', HOME: folder, ...(login ?? own) };
    return runCommand(args, { env, ...(stdin === undefined ? {} : { stdin }) });
  };
  const expect = async (status: number, args: readonly string[]) => {
    const ended = await run(args);
    assert.equal(ended.status, status, `${args.join(' ')}: ${ended.stderr}${ended.stdout}`);
    return ended;
  };
  return {
    run,
    envarium: (...typed) => run(wordsOf(...typed)),
    good: async (...typed) => (await expect(0, wordsOf(...typed))).stdout,
    bad: async (...typed) => (await expect(2, wordsOf(...typed))).stderr,
    json: async <Reply>(...typed: TypedWords) =>
      JSON.parse((await expect(0, [...wordsOf(...typed), '--json'])).stdout) as Reply,
  };
}

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

export interface CommandLine {
  /** @param login variables instead of those with the key of the service @param stdin for standard input */
  run(
    args: readonly string[],
    login?: Readonly<Record<string, string>>,
    stdin?: string,
  ): Promise<CommandResult>;
  envarium(...args: string[]): Promise<CommandResult>;
  /** @returns standard output; fails unless the status is 0 */
  good(...args: string[]): Promise<string>;
  /** @returns standard error of a wrong call; fails unless the status is 2 */
  bad(...args: string[]): Promise<string>;
  /** @returns the reply; fails unless the status is 0 */
  json<Reply>(...args: string[]): Promise<Reply>;
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
  const good: CommandLine['good'] = async (...args) => (await expect(0, args)).stdout;
  return {
    run,
    envarium: (...args) => run(args),
    good,
    bad: async (...args) => (await expect(2, args)).stderr,
    json: async <Reply>(...args: string[]) => JSON.parse(await good(...args, '--json')) as Reply,
  };
}

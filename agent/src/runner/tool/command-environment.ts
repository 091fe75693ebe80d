/**
 * Variables that a tool's command gets in addition to those of its run: settings of its garbage collector, and the
 * programs that it starts, with a role of the agent's program ahead of some of their commands. Such a wrapper is in
 * the folder of the run's programs, where the run can read it and cannot change it.
 */
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { AttemptContext } from '../../attempt/attempt-context.ts';
import type { Command, WrappedProgram } from '../../drivers/interface/command.ts';
import { ownProgram } from '../../own/own-program.ts';
import { RunFailure } from '../../processes/failure.ts';
import { requireProgram } from '../../processes/programs.ts';
import type { RunnerAttempt } from '../commands/runner-attempt.ts';
import type { Configuration } from '../configuration/configuration.ts';

/** Of the kernel, for the first line of a script. */
const longestFirstLine = 255;
const keptOptions = 'KEPT_NODE_OPTIONS';

/** As `env -S` reads a word. */
function quoted(word: string): string {
  return `"${word.replaceAll(/["\\$]/g, String.raw`\$&`)}"`;
}

/**
 * Node must not do what a variable of the run has it do, so `env` hides that from it and the tool gets it back. The
 * process becomes the tool: signals reach the tool itself.
 */
function scriptOf(tool: string, { program, verbs, role, args }: WrappedProgram, cacheFolder: string): string {
  const node = `#!/usr/bin/env -S NODE_OPTIONS= ${keptOptions}=\${NODE_OPTIONS} ${quoted(process.execPath)} --disable-sigusr1`;
  if (Buffer.byteLength(node) > longestFirstLine)
    throw new RunFailure(`the path of Node is too long for a program that starts it: ${process.execPath}`);
  const text = (value: unknown) => JSON.stringify(value);
  return `${node}
const { NODE_OPTIONS: _, ${keptOptions}: options, ...environment } = process.env;
if (options) environment.NODE_OPTIONS = options;
const [node, , ...words] = process.argv;
const start = () => process.execve(${text(tool)}, [${text(program)}, ...words], environment);
if (${text(verbs)}.includes(words[0])) {
  process.argv = [node, ${text(ownProgram)}, ${text(role)}, ...${text(args)}, ...words];
  const module = process.getBuiltinModule('node:module');
  module.enableCompileCache(${text(cacheFolder)});
  import(${text(pathToFileURL(ownProgram).href)}).then(() => {
    if (process.exitCode) return;
    module.flushCompileCache();
    start();
  });
} else start();
`;
}

/**
 * Writes the wrapper.
 * @param paths of the driver's programs that the agent resolved
 * @returns the variable of the environment that names it
 * @throws RunFailure if the program is missing
 */
export function wrapProgram(
  { folders }: Pick<AttemptContext, 'folders'>,
  paths: Readonly<Record<string, string>>,
  wrapped: WrappedProgram,
): Record<string, string> {
  const { program, variable } = wrapped;
  const script = scriptOf(requireProgram(program, paths), wrapped, join(folders.temporary, 'compile-cache'));
  mkdirSync(folders.programs, { recursive: true });
  chmodSync(folders.programs, 0o755);
  const file = join(folders.programs, program);
  rmSync(file, { force: true });
  writeFileSync(file, script, { flag: 'wx', mode: 0o555 });
  chmodSync(file, 0o555);
  return { [variable]: file };
}

/**
 * A provider gets the environment of its tool, and no one knows how much memory it keeps: where there are any, the
 * tool runs as by hand. `init` only installs them.
 * @returns variables for the command; empty if the run sets one of them itself
 */
export function collectorSettings(
  { driver, order }: Pick<RunnerAttempt, 'driver' | 'order'>,
  { environment, hasPlugins }: Pick<Configuration, 'environment' | 'hasPlugins'>,
  command: Pick<Command, 'installsProviders'>,
): Readonly<Record<string, string>> {
  const isAlone = command.installsProviders === true || hasPlugins === false;
  if (!isAlone || driver.collector === undefined) return {};
  const settings = driver.collector.settings(order.runLimits?.memoryBytes ?? null);
  return Object.keys(settings).some((name) => name in environment) ? {} : settings;
}

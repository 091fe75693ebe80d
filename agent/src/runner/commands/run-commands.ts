/** Runs a driver's commands one after the other, grouped by step; the first that fails ends the phase. */
import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { programFacts } from '#protocol/tools/index.ts';
import type { AttemptContext } from '../../attempt/attempt-context.ts';
import {
  type CommandEnd,
  type CommandRequest,
  failureOf,
  runCommand,
  sizeOf,
} from '../../attempt/run-command.ts';
import { readableCredentials } from '../../credentials/credential-files.ts';
import {
  type Command,
  inputs,
  type Note,
  type PhaseCaptures as ReadCaptures,
} from '../../drivers/interface/command.ts';
import { ownToolArguments, programFiles } from '../../own/own-program.ts';
import { RunFailure } from '../../processes/failure.ts';
import { signalQuietly } from '../../processes/proc.ts';
import { nextInRelease, placesOfProgram, requireProgram } from '../../processes/programs.ts';
import { openPlan } from '../../slots/work-folder.ts';
import { requireOwn } from '../../slots/work-folder-owner.ts';
import { openModuleGate } from '../code/checkout-step.ts';
import type { Configuration } from '../configuration/configuration.ts';
import { collectorSettings, wrapProgram } from '../tool/command-environment.ts';
import { type Captures, collect, findLines, readCapture, sealMade, writeNeeded } from './command-files.ts';
import type { RunnerAttempt } from './runner-attempt.ts';

/** The captures at the start of a phase. */
export function readInputCaptures({ driver, job, spool }: RunnerAttempt): Captures {
  const captures: Captures = new Map();
  const isRead = driver.state?.record !== undefined || driver.state?.file?.several !== undefined;
  if (isRead && job.state.current !== undefined) captures.set(inputs.state, readFileSync(spool.inputState));
  const { compose, differing } = driver.savedPlan ?? {};
  if ((compose ?? differing) !== undefined && job.phase === 'apply')
    captures.set(inputs.approved, readFileSync(spool.inputPlan));
  return captures;
}

export interface CommandHooks {
  /** Called once only reading commands are left: the tree no longer changes. */
  readonly onSettled?: () => void;
  /** Runs a command, or does without it. */
  readonly replace?: (command: Command, run: () => Promise<unknown>) => Promise<unknown>;
  /** Runs within the last step, before its commands. */
  readonly beforeLast?: () => Promise<void>;
  /** Runs within the last step, after its commands; its failure fails the step. */
  readonly afterLast?: (captures: Captures) => Promise<void>;
}

/** @returns the captured outputs */
export async function runCommands(
  attempt: RunnerAttempt,
  configuration: Configuration,
  commands: readonly (Command | Note)[],
  hooks: CommandHooks = {},
): Promise<Captures> {
  const captures = readInputCaptures(attempt);
  const replace = hooks.replace ?? ((_command, run) => run());
  // All commands may be capturing ones.
  const lastWriting =
    commands.findLast((command) => 'note' in command || command.captureTo === undefined) ?? commands.at(-1);
  const groups = byStep(commands);
  for (const [index, group] of groups.entries()) {
    await attempt.steps.run(group[0]?.step ?? '', async () => {
      if (index === groups.length - 1) await hooks.beforeLast?.();
      for (const command of group) {
        if ('note' in command) attempt.steps.log(command.step, command.note);
        else await replace(command, () => runOne(attempt, configuration, command, captures));
        if (command === lastWriting) hooks.onSettled?.();
      }
      if (index === groups.length - 1) await hooks.afterLast?.(captures);
    });
  }
  if (groups.length === 0) await hooks.afterLast?.(captures);
  return captures;
}

/** Runs one command within a step that has started, if it is to run. @throws RunFailure if it fails */
export async function runOne(
  attempt: RunnerAttempt,
  configuration: Configuration,
  command: Command,
  captures: Captures,
): Promise<void> {
  const input = inputOf(command, captures);
  if (input === null) return;
  requireOwn(attempt.folders, attempt.job);
  await writeNeeded(attempt, command, captures);
  const log = attempt.spool.stepLog(command.step);
  const from = sizeOf(log);
  const captureTo =
    command.captureTo === undefined ? undefined : attempt.spool.scratchFile(command.captureTo);
  const { providers, folders } = attempt;
  if (command.savesPlan !== undefined) openPlan(folders);
  const end =
    command.installsProviders === true && providers !== null
      ? await providers.install(command.step, configuration.context.configurationFolder, (log) =>
          startOne(attempt, configuration, command, { captureTo, log }),
        )
      : await startOne(attempt, configuration, command, { captureTo, input });
  await collect(attempt, command, captures);
  await findLines(command, log, from, captures);
  const isEnough = isGood(end, command) || (hasExited(end) && command.isEnough?.(captures) === true);
  if (!isEnough) {
    if (command.captureTo !== undefined) noteDiagnostics(attempt, command, end, false);
    throw failed(attempt, end, command, captures);
  }
  if (command.savesPlan !== undefined) await sealMade(attempt, command.savesPlan, captures);
  if (command.captureTo !== undefined && captureTo !== undefined)
    captures.set(command.captureTo, readCapture(captureTo, command.label));
  const next = (await nextOf(command, captures)).map((each) => ({ ...each, step: command.step }));
  await runSeveral(next, (each) => runOne(attempt, configuration, each, captures));
}

/** As many at a time as there are processors. @throws the first failure, once all that have begun have ended */
async function runSeveral(
  commands: readonly Command[],
  run: (command: Command) => Promise<void>,
): Promise<void> {
  const failures: unknown[] = [];
  const left = commands.values();
  const runEach = async () => {
    for (const command of left) {
      if (failures.length > 0) return;
      await run(command).catch((error: unknown) => failures.push(error));
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, runEach));
  if (failures.length > 0) throw failures[0];
}

async function nextOf(command: Command, captures: Captures): Promise<readonly Command[]> {
  try {
    return (await command.next?.(captures)) ?? [];
  } catch (error) {
    // A driver's errors are messages for people.
    throw new RunFailure((error as Error).message, { result: 'failed', failedCommand: command.label });
  }
}

/** The failure of a command, with what its driver knows of it. */
export function failed(
  attempt: RunnerAttempt,
  end: CommandEnd,
  command: Command,
  captures: ReadCaptures,
): RunFailure {
  const failure = failureOf(attempt, end, command.label, (output) => attempt.driver.reason(output));
  const more = command.explain?.(captures) ?? null;
  return more === null ? failure : new RunFailure(`${failure.message}\n\n${more}`, failure.facts);
}

/** Standard input of a command; undefined: none. */
export type CommandInput = Uint8Array | string | undefined;

/** @returns null if the command is not to run @throws RunFailure that names no command: it has not started */
export function inputOf(command: Command, captures: ReadCaptures): CommandInput | null {
  try {
    if (command.when?.(captures) === false) return null;
    return command.input?.(captures);
  } catch (error) {
    // A driver's errors are messages for people.
    throw new RunFailure((error as Error).message, { result: 'failed' });
  }
}

/** Input and output of a command. */
export interface Streams {
  readonly captureTo?: string | undefined;
  /** File for the output, if not the step's log. */
  readonly log?: string;
  readonly input?: CommandInput;
}

/** Runs one command and leaves the judgement of its end to the caller. */
export async function startOne(
  attempt: RunnerAttempt,
  configuration: Configuration,
  command: Command,
  streams: Streams = {},
): Promise<CommandEnd> {
  await attempt.providers?.ready(configuration.context.configurationFolder);
  await using _companion = startCompanion(attempt, configuration, command);
  using input = inputFile(attempt, streams.input);
  const end = await startAlone(attempt, configuration, command, { ...streams, inputFrom: input.path });
  // Commands that only read for the runner report nothing new, unless they fail.
  if (command.captureTo === undefined) noteDiagnostics(attempt, command, end, isGood(end, command));
  const { afterFailure = [] } = command;
  if (afterFailure.length === 0 || isGood(end, command) || end.stop !== null) return end;
  const output = end.output();
  for (const each of afterFailure)
    await startAlone(attempt, configuration, { ...each, step: command.step, isExtra: true }).catch(ignored);
  return { ...end, output: () => output };
}

/** Notes what the tool reports about a run: what looks like an error in the output of a command that succeeds does not count. */
function noteDiagnostics(
  { driver, diagnostics }: RunnerAttempt,
  { step }: Command,
  end: CommandEnd,
  isSuccess: boolean,
): void {
  const found = driver.diagnostics?.(end.output()) ?? [];
  diagnostics.add(step, isSuccess ? found.filter(({ severity }) => severity !== 'error') : found);
}

/** Failures of commands that only display something do not matter. */
function ignored(): void {}

/** A file with a command's input, which is removed afterwards; others may run at the same time. */
function inputFile(
  attempt: AttemptContext,
  content: Uint8Array | string | undefined,
): Disposable & { readonly path: string | undefined } {
  if (content === undefined) return { path: undefined, [Symbol.dispose]: ignored };
  const path = attempt.spool.scratchFile(`command-input-${randomUUID()}`);
  writeFileSync(path, content, { mode: 0o600 });
  return { path, [Symbol.dispose]: () => rmSync(path, { force: true }) };
}

/** Starts the companion of a command. */
function startCompanion(
  attempt: RunnerAttempt,
  configuration: Configuration,
  { companion, step }: Command,
): AsyncDisposable {
  if (companion === undefined) return { [Symbol.asyncDispose]: async () => undefined };
  let isOver = false;
  let running: ChildProcess | null = null;
  const end = () => {
    // The id of one that has already ended may be that of another process.
    const isRunning = running?.exitCode === null && running.signalCode === null;
    if (isRunning && running?.pid !== undefined) signalQuietly(-running.pid, 'SIGKILL');
  };
  const onStart = (child: ChildProcess) => {
    running = child;
    if (isOver) end();
  };
  const ended = startAlone(attempt, configuration, { ...companion, step, isExtra: true }, { onStart }).catch(
    ignored,
  );
  return {
    async [Symbol.asyncDispose]() {
      isOver = true;
      end();
      await ended;
    },
  };
}

/** `isExtra`: changes nothing, and has no entry in the timeline. */
type AloneCommand = Command & { readonly isExtra?: true };

async function startAlone(
  attempt: RunnerAttempt,
  configuration: Configuration,
  command: AloneCommand,
  streams: Streams & Partial<Pick<CommandRequest, 'inputFrom' | 'onStart'>> = {},
): Promise<CommandEnd> {
  const { captureTo, log, inputFrom, onStart } = streams;
  const readable = readableTo(attempt, configuration);
  const loading = command.loadsModules === true;
  await using gate = loading ? await openModuleGate(attempt) : null;
  const settings = collectorSettings(attempt, configuration, command);
  const wrapper =
    command.wraps === undefined ? {} : wrapProgram(attempt, configuration.tool.paths, command.wraps);
  return await runCommand(attempt, {
    step: command.step,
    label: command.label,
    name: command.program,
    program: requireProgram(command.program, configuration.tool.paths),
    args: isOwn(command) ? [...ownToolArguments(command.program), ...command.args] : command.args,
    cwd: configuration.context.configurationFolder,
    environment: {
      ...settings,
      ...configuration.environment,
      ...command.environment,
      ...wrapper,
      ...gate?.environment,
    },
    captureTo,
    ...(command.isChanging === true ? { isInterruptedOnce: true } : {}),
    ...(command.interrupts === undefined ? {} : { interrupts: command.interrupts }),
    ...(isDisposable(command, configuration) || command.isExtra ? { isDisposable: true } : {}),
    ...(command.isExtra ? { isExtra: true } : {}),
    ...(log === undefined ? {} : { log }),
    ...(inputFrom === undefined ? {} : { inputFrom }),
    ...(onStart === undefined ? {} : { onStart }),
    readable: [
      ...readable,
      ...(isOwn(command) || command.wraps !== undefined ? programFiles() : []),
      ...(gate?.readable ?? []),
    ],
    ...(loading || command.installsProviders === true ? { needsNetwork: true } : {}),
  });
}

/** Whether a command's program is a role of the agent's. */
function isOwn({ program }: Pick<Command, 'program'>): boolean {
  return programFacts(program)?.ownVersion !== undefined;
}

/** If the service holds the state, or the command only reads, a command without changes has no lock to release. */
function isDisposable({ captureTo, isChanging }: Command, { context }: Configuration): boolean {
  return isChanging !== true && (captureTo !== undefined || context.stateFolder !== null);
}

/** Paths that a command of the tool has to see besides the system's programs and the run's folders. */
export function readableTo(
  { order, providers, folders, job }: RunnerAttempt,
  { tool }: Pick<Configuration, 'tool'>,
): string[] {
  const caFile = order.network?.caFile;
  return [
    ...Object.entries(tool.paths)
      .filter(([, path]) => path !== '')
      .flatMap(([name, path]) => [...placesOfProgram(path), ...nextInRelease(name, path)]),
    ...(providers?.readable ?? []),
    ...(caFile === undefined ? [] : [caFile]),
    ...readableCredentials(folders, job),
  ];
}

/** Whether it has ended on its own. */
function hasExited({ exitCode, stop }: CommandEnd): boolean {
  return exitCode !== null && stop === null;
}

export function isGood(end: CommandEnd, command: Pick<Command, 'goodExitCodes'>): boolean {
  const isGoodCode =
    end.exitCode === 0 || (end.exitCode !== null && (command.goodExitCodes ?? []).includes(end.exitCode));
  return isGoodCode && end.stop === null;
}

/** Groups neighbours of one step. */
export function byStep<Item extends { readonly step: string }>(commands: readonly Item[]): Item[][] {
  const groups: Item[][] = [];
  for (const command of commands) {
    const last = groups.at(-1);
    if (last?.[0]?.step === command.step) last.push(command);
    else groups.push([command]);
  }
  return groups;
}

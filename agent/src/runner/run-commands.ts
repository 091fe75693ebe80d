/**
 * Runs a driver's commands one after the other, grouped by step; the first that fails ends the phase.
 */
import { constants } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { Command, Note } from '../drivers/driver.ts';
import { readableCredentials } from '../credentials/credential-files.ts';
import { inStep, logLine, scratchPath } from '../attempt/attempt-log.ts';
import { type CommandEnd, failureOf, runCommand, sizeOf } from '../attempt/run-command.ts';
import type { Configuration } from './phases/configuration.ts';
import { openModuleGate } from './code/module-gate.ts';
import { RunFailure } from '../processes/failure.ts';
import { requireProgram } from '../processes/programs.ts';
import { openPlan, sealPlan } from '../slots/work-folder.ts';
import { endRest } from './end-rest.ts';
import type { RunnerAttempt } from './runner-attempt.ts';
import { collectorSettings } from './tool/collector-settings.ts';

/** Captured outputs by `captureTo` name. */
export type Captures = Map<string, Uint8Array>;

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
  const captures: Captures = new Map();
  const replace = hooks.replace ?? ((_command, run) => run());
  // All commands may be capturing ones.
  const lastWriting =
    commands.findLast((command) => 'note' in command || command.captureTo === undefined) ?? commands.at(-1);
  const groups = byStep(commands);
  for (const [index, group] of groups.entries()) {
    await inStep(attempt, group[0]?.step ?? '', async () => {
      if (index === groups.length - 1) await hooks.beforeLast?.();
      for (const command of group) {
        if ('note' in command) logLine(attempt, command.step, command.note);
        else await replace(command, () => runOne(attempt, configuration, command, captures));
        if (command === lastWriting) hooks.onSettled?.();
      }
      if (index === groups.length - 1) await hooks.afterLast?.(captures);
    });
  }
  if (groups.length === 0) await hooks.afterLast?.(captures);
  return captures;
}

/** Runs one command within a step that has started. @throws RunFailure if it fails */
export async function runOne(
  attempt: RunnerAttempt,
  configuration: Configuration,
  command: Command,
  captures: Captures,
): Promise<CommandEnd> {
  const captureTo = command.captureTo === undefined ? undefined : scratchPath(attempt, command.captureTo);
  const { providers, folders } = attempt;
  if (command.savesPlan !== undefined) openPlan(folders);
  const end =
    command.installsProviders === true && providers !== null
      ? await providers.install(command.step, configuration.context.configurationFolder, (log) =>
          startOne(attempt, configuration, command, captureTo, log),
        )
      : await startOne(attempt, configuration, command, captureTo);
  if (!isGood(end, command))
    throw failureOf(attempt, end, command.label, (output) => attempt.driver.lastDiagnostic(output));
  if (command.savesPlan !== undefined) await sealMade(attempt, command.savesPlan);
  if (command.captureTo !== undefined && captureTo !== undefined)
    captures.set(command.captureTo, readCapture(captureTo, command.label));
  return end;
}

/** @throws RunFailure for more than a JavaScript text can have */
export function readCapture(file: string, label: string): Uint8Array {
  const bytes = sizeOf(file);
  if (bytes <= constants.MAX_STRING_LENGTH) return readFileSync(file);
  const megabytes = (size: number) => Math.floor(size / 1e6);
  throw new RunFailure(
    `${label} printed ${megabytes(bytes)} MB, and at most ${megabytes(constants.MAX_STRING_LENGTH)} MB can be read: divide the configuration into several environments`,
    { result: 'failed', failedCommand: label },
  );
}

/** What is shown, hashed and kept is one copy that nothing of the run can change any more. */
async function sealMade(attempt: RunnerAttempt, file: string): Promise<void> {
  const { folders, tree, order } = attempt;
  const name = basename(file);
  const copy = scratchPath(attempt, name);
  await endRest(attempt);
  if ((await tree.copyOut(folders.plan, name, copy)) === null)
    throw new RunFailure('the plan file is not there after the plan', { result: 'internal' });
  sealPlan(folders, name, copy, order.slotUid);
}

/** Runs one command and leaves the judgement of its end to the caller. */
export async function startOne(
  attempt: RunnerAttempt,
  configuration: Configuration,
  command: Command,
  captureTo?: string,
  log?: string,
): Promise<CommandEnd> {
  await attempt.providers?.ready(configuration.context.configurationFolder);
  const loading = command.loadsModules === true;
  await using gate = loading ? await openModuleGate(attempt) : null;
  return await runCommand(attempt, {
    step: command.step,
    label: command.label,
    name: command.program,
    program: requireProgram(command.program, configuration.tool.paths),
    args: command.args,
    cwd: configuration.context.configurationFolder,
    environment: {
      ...collectorSettings(attempt, configuration, command),
      ...configuration.environment,
      ...command.environment,
      ...gate?.environment,
    },
    captureTo,
    ...(command.isChanging === true ? { isInterruptedOnce: true } : {}),
    ...(isDisposable(command, configuration) ? { isDisposable: true } : {}),
    ...(log === undefined ? {} : { log }),
    readable: [...readableTo(attempt, configuration), ...(gate?.readable ?? [])],
    ...(loading || command.installsProviders === true ? { needsNetwork: true } : {}),
  });
}

/** Where the service holds the state, a command that changes nothing has no lock to release. */
function isDisposable({ captureTo, isChanging }: Command, { context }: Configuration): boolean {
  return captureTo !== undefined || (isChanging !== true && context.stateFolder !== null);
}

/** What a command of the tool has to see besides the system's programs and the run's folders. */
export function readableTo(
  { order, providers, folders, job }: RunnerAttempt,
  { tool }: Pick<Configuration, 'tool'>,
): string[] {
  const caFile = order.network?.caFile;
  return [
    ...Object.values(tool.paths).filter((path) => path !== ''),
    ...(providers?.readable ?? []),
    ...(caFile === undefined ? [] : [caFile]),
    ...readableCredentials(folders, job),
  ];
}

export function isGood(end: CommandEnd, command: Command): boolean {
  const isGoodCode =
    end.exitCode === 0 || (end.exitCode !== null && (command.goodExitCodes ?? []).includes(end.exitCode));
  return isGoodCode && end.stop === null;
}

function byStep<Item extends { readonly step: string }>(commands: readonly Item[]): Item[][] {
  const groups: Item[][] = [];
  for (const command of commands) {
    const last = groups.at(-1);
    if (last?.[0]?.step === command.step) last.push(command);
    else groups.push([command]);
  }
  return groups;
}

/**
 * Runs a driver's commands one after the other, grouped by step; the first that fails ends the phase.
 */
import { readFileSync } from 'node:fs';
import type { Command } from '../drivers/driver.ts';
import { inStep, scratchPath } from '../attempt/attempt-log.ts';
import { type CommandEnd, failureOf, runCommand } from '../attempt/run-command.ts';
import type { Configuration } from './phases/configuration.ts';
import type { ExecRequest } from '../processes/exec.ts';
import { openModuleGate } from './code/module-gate.ts';
import { requireProgram } from '../processes/programs.ts';
import { findBubblewrap, sandboxOf } from '../processes/sandbox.ts';
import type { RunnerAttempt } from './runner-attempt.ts';

/** Captured outputs by `captureTo` name. */
export type Captures = Map<string, Uint8Array>;

export interface CommandHooks {
  /** Called once only reading commands are left: the tree no longer changes. */
  readonly onSettled?: () => void;
  /** Runs within the last step, before its commands. */
  readonly beforeLast?: () => Promise<void>;
  /** Runs within the last step, after its commands; its failure fails the step. */
  readonly afterLast?: (captures: Captures) => Promise<void>;
}

/** @returns the captured outputs */
export async function runCommands(
  attempt: RunnerAttempt,
  configuration: Configuration,
  commands: readonly Command[],
  hooks: CommandHooks = {},
): Promise<Captures> {
  const captures: Captures = new Map();
  // All commands may be capturing ones.
  const lastWriting = commands.findLast((command) => command.captureTo === undefined) ?? commands.at(-1);
  const groups = byStep(commands);
  for (const [index, group] of groups.entries()) {
    await inStep(attempt, group[0]?.step ?? '', async () => {
      if (index === groups.length - 1) await hooks.beforeLast?.();
      for (const command of group) {
        await runOne(attempt, configuration, command, captures);
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
  const { providers } = attempt;
  const end =
    command.installsProviders === true && providers !== null
      ? await providers.install(command.step, configuration.context.configurationFolder, (log) =>
          startOne(attempt, configuration, command, captureTo, log),
        )
      : await startOne(attempt, configuration, command, captureTo);
  if (!isGood(end, command))
    throw failureOf(attempt, end, command.label, (output) => attempt.driver.lastDiagnostic(output));
  if (command.captureTo !== undefined && captureTo !== undefined)
    captures.set(command.captureTo, readFileSync(captureTo));
  return end;
}

/** Runs one command; the caller checks how it ended. */
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
      ...configuration.environment,
      ...command.environment,
      ...gate?.environment,
    },
    captureTo,
    ...(command.isChanging === true ? { isInterruptedOnce: true } : {}),
    ...(log === undefined ? {} : { log }),
    ...(await inSandbox(attempt, configuration, gate?.readable)),
  });
}

/** The sandbox of a run's commands; none if the slot has its own user, whose rights confine them. */
export async function inSandbox(
  attempt: RunnerAttempt,
  configuration: Pick<Configuration, 'tool'>,
  more: readonly string[] = [],
): Promise<Pick<ExecRequest, 'sandbox'>> {
  const bubblewrap =
    attempt.order.slotUid === null && process.getuid?.() !== 0 ? await findBubblewrap() : null;
  if (bubblewrap === null) return {};
  const places = sandboxOf(attempt.folders, configuration.tool.paths);
  const network = attempt.order.network?.caFile;
  const readable = [
    ...places.readable,
    ...more,
    ...(attempt.providers?.readable ?? []),
    ...(network === undefined ? [] : [network]),
  ];
  return { sandbox: { bubblewrap, places: { ...places, readable } } };
}

export function isGood(end: CommandEnd, command: Command): boolean {
  const isGoodCode =
    end.exitCode === 0 || (end.exitCode !== null && (command.goodExitCodes ?? []).includes(end.exitCode));
  return isGoodCode && end.stop === null;
}

function byStep(commands: readonly Command[]): Command[][] {
  const groups: Command[][] = [];
  for (const command of commands) {
    const last = groups.at(-1);
    if (last?.[0]?.step === command.step) last.push(command);
    else groups.push([command]);
  }
  return groups;
}

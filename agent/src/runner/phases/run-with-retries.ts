/**
 * Retries a failed apply according to the template's retry settings, in the same attempt and step, with its
 * own start mark. If the tool saves plans, each retry makes a new plan, because the saved one is stale once
 * its apply has changed the state. If a person approved the plan, or policies judged it, the new one may only contain
 * the rest of it. A run that was stopped, or that failed before its changing command, is never retried.
 */
import { basename } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { matchesRegex } from '#guards/match-regex.ts';
import { outputSince, sizeOf } from '../../attempt/run-command.ts';
import type { Command } from '../../drivers/interface/command.ts';
import type { SavedPlanCapability } from '../../drivers/interface/driver.ts';
import { asFailure, RunFailure } from '../../processes/failure.ts';
import { sealPlan } from '../../slots/work-folder.ts';
import type { Captures } from '../commands/command-files.ts';
import { type CommandInput, runOne } from '../commands/run-commands.ts';
import type { RunnerAttempt } from '../commands/runner-attempt.ts';
import type { Configuration } from '../configuration/configuration.ts';
import { type ChangingCommandResult, runChangingCommand } from './run-changing-command.ts';

/** The result of a changing command, and how often it was retried. */
export interface RepeatedChange extends ChangingCommandResult {
  readonly retryCount: number;
}

/** @param input of the command, also when it is repeated @throws RunFailure if the command was not started */
export async function runWithRetries(
  attempt: RunnerAttempt,
  configuration: Configuration,
  command: Command,
  input: CommandInput,
  captures: Captures,
): Promise<RepeatedChange> {
  const log = attempt.spool.stepLog(command.step);
  let current = { configuration, command };
  for (let retryCount = 0; ; retryCount++) {
    const from = sizeOf(log);
    const changed = await withRetryCount(retryCount, () =>
      runChangingCommand(attempt, current.configuration, current.command, {
        input,
        captures,
        isRepeated: retryCount > 0,
      }),
    );
    const end = { ...changed, retryCount };
    const { failure } = changed;
    if (failure === null) return end;
    const next = retryCount + 1;
    if (!mayRepeat(attempt, failure, next)) return end;
    if (!isMatch(attempt, command.step, outputSince(log, from))) return end;
    try {
      current = await repeat(attempt, configuration, command, next, failure);
    } catch (error) {
      return { ...end, retryCount: next, failure: asFailure(error) };
    }
  }
}

/** Adds the number of retries so far to a failure of the work. */
export async function withRetryCount<Value>(retryCount: number, work: () => Promise<Value>): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    const failure = asFailure(error);
    if (retryCount === 0) throw failure;
    throw new RunFailure(failure.message, { retryCount, ...failure.facts }, { cause: error });
  }
}

async function repeat(
  attempt: RunnerAttempt,
  configuration: Configuration,
  command: Command,
  count: number,
  failure: RunFailure,
): Promise<{ configuration: Configuration; command: Command }> {
  const { step } = command;
  const how = attempt.driver.savedPlan?.replanned === undefined ? '' : ', with a new plan';
  attempt.steps.log(step, `\n──── Retry ${count} of ${attempt.job.retry?.times}${how} ────\n`);
  attempt.events.append({ kind: 'step', step, status: 'IN_PROGRESS', retryCount: count });
  return planAgain(attempt, configuration, command, count, failure);
}

function mayRepeat(attempt: RunnerAttempt, { facts }: RunFailure, count: number): boolean {
  const isKnownEnd = facts.result === 'failed' && attempt.stop.reason === null;
  return isKnownEnd && count <= (attempt.job.retry?.times ?? 0);
}

function isMatch(attempt: RunnerAttempt, step: string, output: string): boolean {
  const regex = attempt.job.retry?.errorRegex;
  if (!regex) return true;
  const found = matchesRegex(regex, stripVTControlCharacters(output));
  if (found === true) return true;
  const reason = found === null ? 'could not be matched in time or is not valid' : 'does not match';
  attempt.steps.log(
    step,
    `Not retried: errorRegex ${JSON.stringify(regex)} of the retry settings ${reason}.`,
  );
  return false;
}

/** @throws RunFailure if the plan fails, or contains changes that were not approved */
async function planAgain(
  attempt: RunnerAttempt,
  configuration: Configuration,
  command: Command,
  count: number,
  failure: RunFailure,
): Promise<{ configuration: Configuration; command: Command }> {
  const { driver } = attempt;
  const { step } = command;
  const replanned = driver.savedPlan?.replanned;
  // Otherwise, the command itself determines what is left to do.
  if (replanned === undefined) return { configuration, command };
  const [applying] = driver.apply(configuration.context).filter((each) => each.isChanging === true);
  if (applying === undefined) throw failure;
  try {
    for (const each of driver.plan(configuration.context).filter(({ captureTo }) => captureTo === undefined))
      await runOne(attempt, configuration, { ...each, step }, new Map());
    await expectApproved(attempt, replanned, configuration, step);
    return { configuration, command: applying };
  } catch (error) {
    if (!(error instanceof RunFailure) || error.facts.result !== 'failed') throw error;
    throw new RunFailure(`${failure.message}\n\nRetry ${count}: ${error.message}`, failure.facts);
  }
}

/** @throws RunFailure if the new plan contains changes that neither a person nor a policy has approved */
async function expectApproved(
  attempt: RunnerAttempt,
  replanned: NonNullable<SavedPlanCapability['replanned']>,
  configuration: Configuration,
  step: string,
): Promise<void> {
  if (attempt.job.retry?.isReviewed !== true) return;
  const { folders, spool, order } = attempt;
  const name = basename(folders.planFile);
  const made = attempt.spool.scratchFile(name);
  const again = await show(attempt, configuration, step);
  sealPlan(folders, name, spool.inputPlan, order.slotUid);
  const approved = await show(attempt, configuration, step);
  sealPlan(folders, name, made, order.slotUid);
  const beyond = replanned.beyondApproved(approved, again);
  if (beyond !== null)
    throw new RunFailure(
      `not retried, because a new plan would make changes that were not approved: ${beyond}`,
    );
}

/** The contents of a configuration's plan file, in the form that the driver reads. */
async function show(attempt: RunnerAttempt, configuration: Configuration, step: string): Promise<Uint8Array> {
  const showing = attempt.driver
    .plan(configuration.context)
    .findLast(({ captureTo }) => captureTo !== undefined);
  const captures: Captures = new Map();
  if (showing !== undefined) await runOne(attempt, configuration, { ...showing, step }, captures);
  const [content] = captures.values();
  return content ?? new Uint8Array();
}

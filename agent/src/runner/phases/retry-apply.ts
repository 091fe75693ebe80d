/**
 * Repeats a failed apply as the template's retry settings say: a new plan, in the same attempt and the same
 * step, under a start mark of its own. The saved plan is stale once its apply has changed the state. Where a
 * person has approved, the new plan may only do what is left of the approved one. A run that was stopped is
 * never repeated, nor one that failed before it began to change anything.
 */
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { matchesRegex } from '#guards/match-regex.ts';
import type { Command } from '../../drivers/driver.ts';
import { type Attempt, outputSince, say, sizeOf } from '../attempt.ts';
import { changeWorld } from './change-world.ts';
import type { Configuration } from './configuration.ts';
import { RunFailure } from '../../processes/failure.ts';
import type { KnownState } from '../state/follow-state.ts';
import { type Captures, runOne } from '../run-commands.ts';

/**
 * @returns the state that the command left, null where the state is not ours
 * @throws RunFailure when it fails for good
 */
export async function changeWithRetries(
  attempt: Attempt,
  configuration: Configuration,
  command: Command,
): Promise<KnownState | null> {
  const log = attempt.spool.stepLog(command.step);
  let current = { configuration, command };
  for (let count = 1; ; count++) {
    const from = sizeOf(log);
    try {
      return await changeWorld(attempt, current.configuration, current.command);
    } catch (error) {
      const failure = error as Error;
      if (!mayRepeat(attempt, failure, count)) throw failure;
      if (!isMatch(attempt, command.step, outputSince(log, from))) throw failure;
      attempt.retryCount = count;
      say(
        attempt,
        command.step,
        `\n──── Retry ${count} of ${attempt.job.retry?.times}, with a new plan ────\n`,
      );
      attempt.events.append({ kind: 'step', step: command.step, status: 'IN_PROGRESS', retryCount: count });
      current = await planAgain(attempt, configuration, command, count, failure);
    }
  }
}

function mayRepeat(attempt: Attempt, error: Error, count: number): error is RunFailure {
  const isKnownEnd =
    error instanceof RunFailure && error.facts.result === 'failed' && attempt.stop.reason === null;
  return isKnownEnd && count <= (attempt.job.retry?.times ?? 0);
}

function isMatch(attempt: Attempt, step: string, output: string): boolean {
  const regex = attempt.job.retry?.errorRegex;
  if (!regex) return true;
  const found = matchesRegex(regex, stripVTControlCharacters(output));
  if (found === true) return true;
  const reason = found === null ? 'could not be matched in time or is none' : 'does not match';
  say(attempt, step, `Not repeated: errorRegex ${JSON.stringify(regex)} of the retry settings ${reason}.`);
  return false;
}

/** @throws RunFailure where the plan fails, or would do what nobody has approved */
async function planAgain(
  attempt: Attempt,
  configuration: Configuration,
  command: Command,
  count: number,
  failure: RunFailure,
): Promise<{ configuration: Configuration; command: Command }> {
  const { driver } = attempt;
  const { step } = command;
  const folder = `retry-${count}`;
  const again: Configuration = {
    ...configuration,
    context: { ...configuration.context, planFile: join(attempt.folders.plan, folder, 'tfplan') },
  };
  const [applying] = driver.apply(again.context).filter((each) => each.isChanging === true);
  if (applying === undefined) throw failure;
  try {
    await attempt.tree.write(attempt.folders.plan, `${folder}/.made`, '');
    for (const each of driver.plan(again.context).filter(({ captureTo }) => captureTo === undefined))
      await runOne(attempt, again, { ...each, step }, new Map());
    await expectApproved(attempt, configuration, again, step);
    return { configuration: again, command: applying };
  } catch (error) {
    if (!(error instanceof RunFailure) || error.facts.result !== 'failed') throw error;
    throw new RunFailure(`${failure.message}\n\nRetry ${count}: ${error.message}`, failure.facts);
  }
}

/** @throws RunFailure where the new plan goes beyond what a person has approved */
async function expectApproved(
  attempt: Attempt,
  approved: Configuration,
  again: Configuration,
  step: string,
): Promise<void> {
  if (attempt.job.retry?.isReviewed !== true) return;
  const { driver } = attempt;
  const beyond = driver.beyondApproved?.(
    await show(attempt, approved, step),
    await show(attempt, again, step),
  );
  if (beyond === undefined)
    throw new RunFailure(`a plan that a person has approved cannot be made again with ${driver.type}`);
  if (beyond !== null)
    throw new RunFailure(`not repeated, because a new plan would do what was not approved: ${beyond}`);
}

/** The plan of a configuration's plan file, as the driver reads it. */
async function show(attempt: Attempt, configuration: Configuration, step: string): Promise<Uint8Array> {
  const showing = attempt.driver
    .plan(configuration.context)
    .findLast(({ captureTo }) => captureTo !== undefined);
  const captures: Captures = new Map();
  if (showing !== undefined) await runOne(attempt, configuration, { ...showing, step }, captures);
  const [content] = captures.values();
  return content ?? new Uint8Array();
}

/** The step that reads the outputs of what was applied. */
import type { AttemptContext } from '../../attempt/attempt-context.ts';
import type { Command } from '../../drivers/interface/command.ts';
import type { OutcomeFacts } from '../../processes/failure.ts';
import type { Captures } from '../commands/command-files.ts';
import { runOne } from '../commands/run-commands.ts';
import { type RunnerAttempt, stateFacts } from '../commands/runner-attempt.ts';
import type { Configuration } from '../configuration/configuration.ts';
import type { KnownState } from '../state/spooled-states.ts';
import type { ApplyWork } from './apply-work.ts';

/** @param commands those that read outputs, possibly empty @throws RunFailure if one of them fails */
export async function outputStep(
  attempt: RunnerAttempt,
  configuration: Configuration,
  commands: readonly Command[],
  { state, captures }: ApplyWork,
): Promise<OutcomeFacts> {
  const needed = commands.filter(
    (command) => command.isForEncryptedState !== true || state?.isEncrypted === true,
  );
  const step = commands[0]?.step;
  if (step === undefined) return readOutputs(attempt, configuration, captures, state);
  return attempt.steps.run(step, async () => {
    for (const command of needed) await runOne(attempt, configuration, command, captures);
    const reading = readOutputs(attempt, configuration, captures, state);
    logOutputs(attempt, step, reading.outputs ?? {});
    return reading;
  });
}

function readOutputs(
  { driver, job }: RunnerAttempt,
  { context }: Configuration,
  captures: Captures,
  state: KnownState | null,
): OutcomeFacts {
  if (driver.state?.file === undefined || driver.outputs !== undefined)
    return driver.outputs?.read(captures) ?? {};
  const [captured] = captures.values();
  const read = () =>
    captured === undefined || captured.length === 0 ? state : (driver.state?.read(captured) ?? null);
  const reading = driver.state.after === undefined ? read() : driver.state.after(context, captures, state);
  return reading === null ? {} : stateFacts(job, reading);
}

function logOutputs(
  attempt: AttemptContext,
  step: string,
  outputs: NonNullable<OutcomeFacts['outputs']>,
): void {
  const rows = Object.entries(outputs);
  if (rows.length === 0) attempt.steps.logEnd(step, 'There are no outputs.');
  for (const [name, { value, sensitive }] of rows)
    attempt.steps.logEnd(step, `${name} = ${sensitive ? '(sensitive)' : JSON.stringify(value)}`);
}

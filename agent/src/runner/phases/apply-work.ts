/** The commands of an apply up to its outputs: those that check, those that change resources, and what these wait for. */

import { type Command, inputs } from '../../drivers/interface/command.ts';
import { RunFailure } from '../../processes/failure.ts';
import type { Captures } from '../commands/command-files.ts';
import { byStep, type CommandInput, inputOf, readInputCaptures, runOne } from '../commands/run-commands.ts';
import { type RunnerAttempt, stateFacts } from '../commands/runner-attempt.ts';
import type { Configuration } from '../configuration/configuration.ts';
import { type KnownState, SpooledStates } from '../state/spooled-states.ts';
import { notApproved } from './approved-parts.ts';
import { runWithRetries, withRetryCount } from './run-with-retries.ts';
import { storeMark } from './store-mark.ts';
import { storeState } from './store-state.ts';

export class ApplyWork {
  readonly captures: Captures;
  readonly #attempt: RunnerAttempt;
  readonly #configuration: Configuration;
  #state: KnownState | null = null;
  #records: SpooledStates | null = null;
  #retryCount = 0;
  #hasBegun = false;
  #hasChanged = false;

  constructor(attempt: RunnerAttempt, configuration: Configuration) {
    this.#attempt = attempt;
    this.#configuration = configuration;
    this.captures = readInputCaptures(attempt);
  }

  /** The last state, as far as it is known. */
  get state(): KnownState | null {
    return this.#state;
  }

  /** Number of repetitions of commands. */
  get retryCount(): number {
    return this.#retryCount;
  }

  /** @throws RunFailure if a command fails; the state that it left is stored nevertheless */
  async run(commands: readonly Command[]): Promise<void> {
    const last = commands.findLast((command) => command.isChanging === true);
    try {
      for (const group of byStep(commands))
        await this.#attempt.steps.run(group[0]?.step ?? '', () => this.#runGroup(group, last));
    } catch (error) {
      if (this.#hasChanged || this.#state !== null)
        storeState(this.#attempt, this.#configuration, this.#state);
      await withRetryCount(this.#retryCount, () => Promise.reject(error));
    }
  }

  async #runGroup(group: readonly Command[], last: Command | undefined): Promise<void> {
    for (const command of group) await this.#runOne(command, command === last);
  }

  async #runOne(command: Command, isLast: boolean): Promise<void> {
    if (command.isChanging !== true)
      return runOne(this.#attempt, this.#configuration, command, this.captures);
    const input = inputOf(command, this.captures);
    if (input !== null) {
      if (!this.#hasBegun) await this.#begin();
      await this.#change(command, input);
    }
    if (isLast) await this.#end();
  }

  async #begin(): Promise<void> {
    const { driver } = this.#attempt;
    const { context } = this.#configuration;
    const difference = driver.savedPlan?.differing?.(context, this.captures) ?? null;
    if (difference !== null) throw notApproved(difference);
    const { record } = driver.state ?? {};
    if (record !== undefined) {
      // The service makes no state current of an attempt that may not change anything yet.
      await storeMark(this.#attempt);
      await this.#keep(record.before(context, this.captures));
    }
    this.#hasBegun = true;
  }

  async #change(command: Command, input: CommandInput): Promise<void> {
    const left = await runWithRetries(this.#attempt, this.#configuration, command, input, this.captures);
    this.#hasChanged = true;
    this.#retryCount += left.retryCount;
    this.#state = left.state ?? this.#state;
    if (left.failure !== null) throw left.failure;
  }

  async #end(): Promise<void> {
    const { record } = this.#attempt.driver.state ?? {};
    if (record !== undefined) await this.#keep(record.after(this.#configuration.context, this.captures));
    if (this.#attempt.job.type === 'destroy') await this.#tidyUp();
  }

  /** Stores a version of the record. */
  async #keep(bytes: Uint8Array): Promise<void> {
    const { driver, spool, job } = this.#attempt;
    if (driver.state === undefined) return;
    const states = (this.#records ??= new SpooledStates(spool, driver.state));
    if (!(await states.put(bytes)))
      throw new RunFailure('the record of what is applied is not complete', { result: 'internal' });
    this.captures.set(inputs.state, bytes);
    this.#state = states.latest;
    if (states.latest !== null) this.#attempt.facts.add(stateFacts(job, states.latest));
  }

  /** Everything has been destroyed: a failed cleanup is only a warning. */
  async #tidyUp(): Promise<void> {
    const attempt = this.#attempt;
    const commands = (await attempt.driver.afterDestroy?.(this.#configuration.context)) ?? [];
    for (const command of commands) {
      try {
        await runOne(attempt, this.#configuration, command, new Map());
      } catch (error) {
        if (!(error instanceof RunFailure) || error.facts.result !== 'failed') throw error;
        return attempt.steps.warn(
          command.step,
          `${command.label} failed after everything was destroyed: ${error.message}`,
        );
      }
    }
  }
}

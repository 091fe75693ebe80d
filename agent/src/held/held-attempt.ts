/**
 * One attempt that this agent holds: from a folder on disk, possibly left by an earlier agent process, to the
 * server's last answer about it. The folder is complete at any time, so that the next agent process can
 * continue after an interruption.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Job } from '#protocol/messages/job.ts';
import type { Outcome } from '#protocol/messages/outcome.ts';
import type { ServerConnection } from '../connection/connection.ts';
import { isRefusal } from '../connection/refusals.ts';
import type { Launcher, Runner } from '../launchers/launcher.ts';
import { type AttemptWake, createWake, watchFolders } from '../processes/wake.ts';
import { createCompletion } from '../ship/completion.ts';
import { followSignals } from '../ship/follow-signals.ts';
import { shipAttempt } from '../ship/ship-attempt.ts';
import { keepLastState, sendFinalState } from '../ship/ship-state.ts';
import type { Control, SpoolPaths } from '../spool/layout.ts';
import { isMarkStored, readOutcome, readRunner } from '../spool/read-attempt.ts';
import { writeJson } from '../spool/write-file.ts';
import { recoverBrokenAttempt, recoverLostAttempt } from './recover-attempt.ts';

export interface AttemptLog {
  info(data: object, text: string): void;
  warn(data: object, text: string): void;
  error(data: object, text: string): void;
}

export interface AttemptOptions {
  readonly connection: ServerConnection;
  readonly launcher: Pick<Launcher, 'runnerOf'>;
  readonly paths: SpoolPaths;
  readonly job: Job;
  readonly workFolder: string;
  readonly slotUid: number | null;
  /** Nothing of it has been sent to the server yet. */
  readonly isFresh: boolean;
  /** When this process received the job; absent: an earlier one did. */
  readonly receivedAt?: string | undefined;
  /**
   * Time after the abort time that a runner may take to stop before it is killed, in milliseconds; default:
   * one minute.
   */
  readonly stopMilliseconds?: number;
  /** For how long a server that answers may refuse an outcome, in seconds; default: without an end. */
  readonly patienceSeconds?: number;
  /** Number of attempts that the agent reports on. */
  readonly countRuns: () => number;
  /** Stops the agent's work on the attempt; the runner continues. */
  readonly signal: AbortSignal;
  readonly log: AttemptLog;
}

export interface AttemptEnd {
  /** The apply phase of the same deployment, received with the answer. */
  readonly next: Job | null;
  /** Whether the server accepted the outcome. */
  readonly isAccepted: boolean;
  /** Whether the server did not take the outcome for so long that it is no longer sent. */
  readonly isGivenUp?: boolean;
}

const outcomePollMilliseconds = 250;
const ordinaryStopMilliseconds = 60_000;
const pauseAfterErrorMilliseconds = 5_000;
const longestPauseMilliseconds = 300_000;

export class HeldAttempt {
  readonly #options: AttemptOptions;
  readonly #wake: AttemptWake = createWake();
  #requested: Control['abort'] = null;
  #requestedAt = Infinity;
  readonly #heldSince = performance.now();
  #isUnwanted = false;
  readonly #unwanted = new AbortController();

  constructor(options: AttemptOptions) {
    this.#options = options;
  }

  get job(): Job {
    return this.#options.job;
  }

  get paths(): SpoolPaths {
    return this.#options.paths;
  }

  /** Checks again immediately, for example because the runner has ended. */
  notify(): void {
    this.#wake.notify();
  }

  /** Requests that the runner stop; a request can only become more urgent. */
  async abort(how: 'gently' | 'now'): Promise<void> {
    const before = this.#requested;
    if (before === how || before === 'now') return;
    this.#requested = how;
    try {
      writeJson(this.paths.control, { abort: how } satisfies Control);
    } catch (error) {
      // A second caller must not find a request that was never written.
      this.#requested = before;
      throw error;
    }
    const runner = this.#runner();
    this.#requestedAt = Math.min(this.#requestedAt, performance.now());
    // Before runner.json exists, the signal would end the runner, which checks control.json afterwards.
    if (runner && existsSync(this.paths.runner)) runner.signal('SIGUSR1');
  }

  /**
   * Stops the tool of an attempt that the server no longer lists, and keeps its state. An attempt with an
   * outcome continues: the answer to its finish may have been lost, and will be repeated.
   */
  discard(): void {
    if (!this.#isUnwanted && readOutcome(this.paths) === null) this.#giveUp();
  }

  #giveUp(): void {
    this.#isUnwanted = true;
    this.#options.log.warn(
      this.#fields(),
      'the server no longer lists the attempt; stopping its tool and keeping its state',
    );
    this.#unwanted.abort();
  }

  /**
   * Completes the attempt: waits for its runner, sends everything, and recovers what a lost runner left.
   * @throws the signal's reason if the agent stops first
   */
  async complete(): Promise<AttemptEnd> {
    const { signal } = this.#options;
    const wakeUp = () => this.#wake.notify();
    signal.addEventListener('abort', wakeUp, { once: true });
    try {
      return await this.#complete();
    } finally {
      // The agent's signal lives longer, and so would the attempt.
      signal.removeEventListener('abort', wakeUp);
    }
  }

  async #complete(): Promise<AttemptEnd> {
    const { paths, signal } = this.#options;
    using _watch = watchFolders([paths.folder, paths.steps, paths.states], (folder, name) =>
      this.#noteChange(folder, name),
    );
    const completion = createCompletion(this.#wake);
    const ended = this.#awaitOutcome().then(() => completion.reach());
    ended.catch(() => {});
    let refusedSince = Infinity;
    for (let isFresh = this.#options.isFresh; ; isFresh = false) {
      const wasUnwanted = this.#isUnwanted;
      try {
        if (!wasUnwanted) return { next: await this.#ship(completion, isFresh), isAccepted: true };
        await this.abort('gently');
        await ended;
        await this.#sendLastState();
        return { next: null, isAccepted: false };
      } catch (error) {
        signal.throwIfAborted();
        if (!this.#isUnwanted && (isRefusal(error, 'fence_outdated') || isRefusal(error, 'mark_taken')))
          this.#giveUp();
        if (!wasUnwanted && this.#isUnwanted) continue;
        // While it runs, it is reported again and again; its own limits end it.
        // A secret that has ended says nothing about the outcome: the next one delivers it.
        if (isRefusal(error, 'unauthorized')) refusedSince = Infinity;
        else if (completion.isReached()) refusedSince = Math.min(refusedSince, performance.now());
        const refused = Math.max(0, performance.now() - refusedSince);
        const left = (this.#options.patienceSeconds ?? Infinity) * 1000 - refused;
        if (left <= 0) return this.#giveUpReport(error);
        this.#options.log.error({ ...this.#fields(), err: error }, 'cannot report the attempt; retrying');
        // The last try is at the end of its patience.
        const pause = Math.min(
          Math.max(pauseAfterErrorMilliseconds, refused),
          longestPauseMilliseconds,
          left,
        );
        await delay(pause, undefined, { signal });
      }
    }
  }

  /** An attempt that is missing from the agent's lists is ended by the server. */
  async #giveUpReport(error: unknown): Promise<AttemptEnd> {
    const { log, paths } = this.#options;
    log.error(
      { ...this.#fields(), err: error },
      'the service does not take the outcome of the attempt: giving up, and keeping its folder',
    );
    await this.#sendLastState().catch(() => keepLastState(paths));
    return { next: null, isAccepted: false, isGivenUp: true };
  }

  /** Wakes only those that read what has changed: runs write often, and every look costs processor time. */
  #noteChange(folder: string, name: string | null): void {
    const { paths } = this;
    const file = name === null ? null : join(folder, name);
    if (folder === paths.steps || file === paths.events) this.#wake.notify('report');
    else if (folder === paths.states) this.#wake.notify('state');
    else if (file === paths.mark) this.#wake.notify('mark');
    else if (file === paths.outcome) this.#wake.notify('outcome');
    else if (file === null) this.#wake.notify();
  }

  async #ship(completion: ReturnType<typeof createCompletion>, isFresh: boolean): Promise<Job | null> {
    const { connection, paths, job, receivedAt, log, countRuns } = this.#options;
    using stop = followSignals(this.#options.signal, this.#unwanted.signal);
    return await shipAttempt({
      countRuns,
      receivedAt,
      connection,
      paths,
      job,
      completion,
      isFresh,
      wake: this.#wake,
      signal: stop.signal,
      onAbort: (how) => {
        // The next answer repeats the request.
        this.abort(how).catch((error: unknown) =>
          log.error({ ...this.#fields(), err: error }, 'cannot request the runner to stop'),
        );
      },
    });
  }

  /** The server accepts a state whatever became of the attempt. */
  async #sendLastState(): Promise<void> {
    const { connection, paths, job, signal, log } = this.#options;
    const { notStored } = await sendFinalState({
      paths,
      job,
      send: (query, bytes) => connection.putState(job, query, bytes, signal),
    });
    if (notStored !== undefined) log.error({ ...this.#fields(), notStored }, 'state not stored');
  }

  async #awaitOutcome(): Promise<void> {
    const waiter = this.#wake.waiter('outcome');
    while (!(await this.#retry(() => this.#isOver()))) await waiter.wait(outcomePollMilliseconds);
  }

  /** Whether the runner has ended; recovers what it left in that case. */
  async #isOver(): Promise<boolean> {
    const { paths, signal } = this.#options;
    signal.throwIfAborted();
    const runner = this.#runner();
    const isRunning = runner !== null && !runner.hasEnded();
    // Read after the process was checked: it may have written its outcome just before it ended.
    const outcome = readOutcome(paths);
    if (outcome) {
      if (isBroken(outcome) && isMarkStored(paths)) await recoverBrokenAttempt(this.#options);
      return true;
    }
    if (isRunning) {
      // Killing a hanging runner interrupts its tool; it is then recovered like a lost one.
      if (this.#isLimitOverdue()) await this.abort('now');
      if (this.#isStopOverdue()) runner.signal('SIGKILL');
      return false;
    }
    this.#options.log.warn(this.#fields(), 'runner ended without an outcome');
    await recoverLostAttempt(this.#options);
    return true;
  }

  #runner(): Runner | null {
    const identity = readRunner(this.paths);
    return identity === null ? null : this.#options.launcher.runnerOf(identity);
  }

  /** A runner ends its run at the limit; one that hangs is ended by our clock. */
  #isLimitOverdue(): boolean {
    const { runSeconds, abortSeconds } = this.#options.job.limits;
    return (
      performance.now() - this.#heldSince > (runSeconds + abortSeconds) * 1000 + ordinaryStopMilliseconds
    );
  }

  #isStopOverdue(): boolean {
    const { job, stopMilliseconds = ordinaryStopMilliseconds } = this.#options;
    return performance.now() - this.#requestedAt > job.limits.abortSeconds * 1000 + stopMilliseconds;
  }

  /** Retries until it succeeds. */
  async #retry<Result>(recover: () => Promise<Result>): Promise<Result> {
    const { signal, log } = this.#options;
    for (;;) {
      try {
        return await recover();
      } catch (error) {
        signal.throwIfAborted();
        log.error({ ...this.#fields(), err: error }, 'cannot recover what a runner left; retrying');
        await delay(pauseAfterErrorMilliseconds, undefined, { signal });
      }
    }
  }

  #fields() {
    const { jobId, attempt, phase, deploymentId } = this.#options.job;
    return { jobId, attempt, phase, deploymentId };
  }
}

/** Whether the runner itself failed; such an outcome reveals nothing about its tool. */
function isBroken(outcome: Outcome): boolean {
  return outcome.result === 'internal' && outcome.isLost !== true;
}

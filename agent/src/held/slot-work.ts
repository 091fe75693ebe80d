/**
 * The work of one slot: attempts are prepared, started, carried to their end and tidied up, one after the
 * other.
 */
import { existsSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { Job } from '#protocol/messages/job.ts';
import type { Outcome } from '#protocol/messages/outcome.ts';
import { HeldAttempt, type AttemptLog } from './held-attempt.ts';
import type { ServerConnection } from '../connection/connection.ts';
import { isRefusal } from '../connection/refusals.ts';
import { prepareAttempt } from './prepare-attempt.ts';
import type { Slot } from '../slots/slot-table.ts';
import type { RunnerOrder, SlotRecord, SpoolPaths } from '../spool/layout.ts';
import type { Spool } from '../spool/open-spool.ts';
import { readSlotRecord } from '../spool/read-attempt.ts';
import { removeFolder, writeJsonDurably } from '../spool/write-file.ts';
import { awaitRunnerEnd, endEverything, removeAttempt } from './tidy-attempt.ts';
import type { Launcher } from '../launchers/launcher.ts';

export interface SlotWorkOptions {
  readonly connection: ServerConnection;
  readonly spool: Spool;
  readonly launcher: Launcher;
  readonly workFolder: string;
  /** Paths of the programs that a job needs, by name, as far as they exist. */
  readonly toolPaths: (job: Job) => Promise<Record<string, string>>;
  /** What every runner of this agent receives in addition to its attempt. */
  readonly runOrder?: Pick<RunnerOrder, 'providers' | 'network' | 'toolchain'>;
  /** Values of the agent's own settings that are masked in the output of its runs. */
  readonly secrets?: readonly string[];
  readonly log: AttemptLog;
  /** Ends the agent's part; runners continue. */
  readonly signal: AbortSignal;
  readonly onChange: {
    /** The job is claimed, and nothing of it is on disk yet. */
    claimed(job: Job): void;
    held(attempt: HeldAttempt): void;
    started(): void;
    /** Nothing of it is on disk any more. */
    dropped(job: Job): void;
  };
}

const pauseAfterErrorMilliseconds = 5_000;
const pollMilliseconds = 10;

export class SlotWork {
  readonly #options: SlotWorkOptions;
  readonly #slot: Slot;

  constructor(options: SlotWorkOptions, slot: Slot) {
    this.#options = options;
    this.#slot = slot;
  }

  /** Runs a claimed job, and the one that its end may hand over. */
  async run(job: Job): Promise<void> {
    const attempt = await this.#begin(job, null);
    if (attempt) await this.#carry(attempt);
  }

  /** Continues what an earlier agent confirmed and may not have started. */
  async takeUp(attempt: HeldAttempt): Promise<void> {
    if ((await this.#hasBegun(attempt.paths)) || (await this.#confirmAndStart(attempt, null)))
      await this.#carry(attempt);
  }

  /** An attempt of this slot, known to the agent from now on. */
  hold(paths: SpoolPaths, job: Job, isFresh: boolean): HeldAttempt {
    const { connection, launcher, workFolder, signal, log } = this.#options;
    const attempt = new HeldAttempt({
      connection,
      launcher,
      paths,
      job,
      workFolder,
      slotUid: this.#slot.uid,
      isFresh,
      signal,
      log,
    });
    this.#options.onChange.held(attempt);
    return attempt;
  }

  async #carry(first: HeldAttempt): Promise<void> {
    for (let attempt: HeldAttempt | null = first; attempt; ) {
      const { next }: { next: Job | null } = await attempt.carry();
      const following: HeldAttempt | null = next ? await this.#begin(next, attempt) : null;
      if (following) await this.#removePlan(attempt);
      else await this.#conclude(attempt);
      this.#options.onChange.dropped(attempt.job);
      attempt = following;
    }
  }

  /** A folder that cannot be removed must not delay the apply. */
  async #removePlan({ paths }: HeldAttempt): Promise<void> {
    await removeFolder(paths.folder).catch((error: unknown) =>
      this.#options.log.error(
        { folder: paths.folder, err: error },
        'folder of a plan cannot be removed, the next start of the agent removes it',
      ),
    );
  }

  /** @returns null if the attempt cannot be fetched or written: the server hands the job to another agent */
  async #begin(claimed: Job, before: HeldAttempt | null): Promise<HeldAttempt | null> {
    const job = { ...claimed, secrets: [...claimed.secrets, ...(this.#options.secrets ?? [])] };
    const { connection, spool, workFolder, signal } = this.#options;
    const slotUid = this.#slot.uid;
    this.#options.onChange.claimed(job);
    try {
      const [{ paths, refusal }] = await Promise.all([
        prepareAttempt({
          connection,
          attemptsFolder: spool.attemptsFolder,
          workFolder,
          slotUid,
          job,
          signal,
        }),
        before && awaitRunnerEnd(this.#options.launcher, before.paths),
      ]);
      const attempt = this.hold(paths, job, true);
      return (await this.#confirmAndStart(attempt, refusal)) ? attempt : null;
    } catch (error) {
      this.#giveBack(job, error);
      return null;
    }
  }

  /** @returns false if it was not started and its folder was removed */
  async #confirmAndStart(attempt: HeldAttempt, refusal: string | null): Promise<boolean> {
    const { connection, signal } = this.#options;
    const choosing = refusal === null ? this.#chooseRunner(attempt) : null;
    try {
      const [chosen] = await Promise.all([choosing, connection.confirm(attempt.job, signal)]);
      if (chosen) chosen.give();
      else await writeJsonDurably(attempt.paths.outcome, refusedOutcome(refusal ?? ''));
      return true;
    } catch (error) {
      this.#options.signal.throwIfAborted();
      (await choosing?.catch(() => null))?.release();
      await removeFolder(attempt.paths.folder);
      this.#giveBack(attempt.job, error);
      return false;
    }
  }

  /**
   * The server notices that the attempt is missing from the lists of held ones, and hands the job to another
   * agent.
   */
  #giveBack(job: Job, error: unknown): void {
    this.#options.signal.throwIfAborted();
    this.#options.onChange.dropped(job);
    const { jobId, attempt } = job;
    if (isRefusal(error, 'fence_outdated'))
      this.#options.log.warn(
        { jobId, attempt },
        'job was handed to another agent before it was started here',
      );
    else
      this.#options.log.error(
        { jobId, attempt, err: error },
        'attempt cannot be started here, returning its job',
      );
  }

  /** Whether a runner runs it or has run it. A chosen runner gets its order immediately or never. */
  async #hasBegun(paths: SpoolPaths): Promise<boolean> {
    const { launcher, signal } = this.#options;
    for (;;) {
      const chosen = readSlotRecord(paths)?.runner;
      const isUndecided = chosen !== undefined && !launcher.find(chosen).hasEnded();
      if (existsSync(paths.runner) || existsSync(paths.outcome)) return true;
      if (!isUndecided) return false;
      await delay(pollMilliseconds, undefined, { signal });
    }
  }

  /**
   * Records which process will run the attempt, as it may be alive before it reports itself.
   * @returns what hands over the order, and what lets the process end without one
   */
  async #chooseRunner(attempt: HeldAttempt): Promise<{ give(): void; release(): void }> {
    const { launcher, workFolder, toolPaths, onChange } = this.#options;
    const { index, uid } = this.#slot;
    const [runner, paths] = await Promise.all([launcher.start(), toolPaths(attempt.job)]);
    try {
      await writeJsonDurably(attempt.paths.slot, {
        index,
        uid,
        runner: runner.identity,
      } satisfies SlotRecord);
    } catch (error) {
      runner.release();
      throw error;
    }
    return {
      give: () => {
        runner.give({
          attemptFolder: attempt.paths.folder,
          workFolder,
          slotUid: uid,
          toolPaths: paths,
          ...this.#options.runOrder,
        });
        runner.onEnd(() => attempt.notify());
        onChange.started();
      },
      release: () => runner.release(),
    };
  }

  /** Tidies up. A slot is not used again if a process in it does not end. */
  async #conclude(attempt: HeldAttempt): Promise<void> {
    const { launcher, workFolder, signal, log } = this.#options;
    for (;;) {
      try {
        await endEverything(launcher, attempt.paths, this.#slot.uid);
        return await removeAttempt(attempt.paths, attempt.job, workFolder, this.#slot.uid);
      } catch (error) {
        log.error(
          { err: error, jobId: attempt.job.jobId, attempt: attempt.job.attempt },
          'slot cannot be tidied up, trying again',
        );
        await delay(pauseAfterErrorMilliseconds, undefined, { signal });
      }
    }
  }
}

/** A job that was claimed and cannot be run here. */
function refusedOutcome(message: string): Outcome {
  return { result: 'internal', finishedAt: new Date().toISOString(), error: { message } };
}

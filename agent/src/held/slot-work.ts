/** The work of one slot: prepares, starts, completes and cleans up attempts one after the other. */
import { existsSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Job } from '#protocol/messages/job.ts';
import type { Outcome } from '#protocol/messages/outcome.ts';
import type { ServerConnection } from '../connection/connection.ts';
import { isRefusal } from '../connection/refusals.ts';
import type { DeliverCredentials } from '../credentials/deliver-credentials.ts';
import type { Launcher } from '../launchers/launcher.ts';
import { endStrandedSandboxes } from '../processes/end-processes.ts';
import type { ProcessIdentity } from '../processes/proc.ts';
import type { ResolveReferences } from '../secret-references/resolve-references.ts';
import { type KeptFailuresOptions, removeOldFailures } from '../slots/kept-failures.ts';
import { type KeptTree, type KeptTrees, reinstate } from '../slots/kept-trees.ts';
import { forceRemove } from '../slots/remove-folder.ts';
import type { Slot } from '../slots/slot-table.ts';
import { workFolderPaths } from '../slots/work-folder.ts';
import { asideOf } from '../slots/work-folder-owner.ts';
import type { RunnerOrder, SlotRecord, SpoolPaths } from '../spool/layout.ts';
import type { Spool } from '../spool/open-spool.ts';
import { readOutcome, readSlotRecord } from '../spool/read-attempt.ts';
import { removeFolder, writeJson, writeJsonDurably } from '../spool/write-file.ts';
import { type AttemptEnd, type AttemptLog, HeldAttempt } from './held-attempt.ts';
import { innerSecrets } from './inner-secrets.ts';
import { prepareAttempt } from './prepare-attempt.ts';
import { awaitRunnerEnd, endEverything, removeAttempt } from './tidy-attempt.ts';

export interface SlotWorkOptions {
  readonly connection: ServerConnection;
  readonly spool: Spool;
  readonly launcher: Launcher;
  readonly workFolder: string;
  readonly keptTrees: KeptTrees;
  readonly keptFailures: KeptFailuresOptions;
  /** For how long a server that answers may refuse an outcome, in seconds. */
  readonly patienceSeconds: number;
  /** Paths of the programs that a job needs, by name; empty if not found. */
  readonly toolPaths: (job: Job) => Record<string, string>;
  /** The part of an order that is the same for every runner of this agent. */
  readonly runOrder: Pick<
    RunnerOrder,
    'isolation' | 'runLimits' | 'providers' | 'network' | 'toolchain' | 'costs' | 'reuseFolder'
  >;
  /** Values of the agent's own settings that are masked in the output of its runs. */
  readonly secrets?: readonly string[];
  /** Puts the values of secret stores in the place of references to them; absent: there are no stores. */
  readonly resolveReferences?: ResolveReferences;
  /** Makes variables and files of the cloud credentials of a job; absent: runs get none. */
  readonly deliverCredentials?: DeliverCredentials;
  readonly log: AttemptLog;
  /** Ends the agent's work; runners continue. */
  readonly signal: AbortSignal;
  /** Whether the server has replaced the attempt. */
  readonly isUnwanted: (job: Job) => boolean;
  /** Number of attempts that the agent reports on. */
  readonly countRuns: () => number;
  readonly onChange: {
    /** The job is claimed, but nothing is on disk yet. */
    claimed(job: Job): void;
    held(attempt: HeldAttempt): void;
    started(): void;
    /** Nothing is on disk any more. */
    dropped(job: Job): void;
  };
}

interface Beginning {
  /** Why the attempt cannot run, which becomes its outcome. */
  readonly refusal: string | null;
  /** The plan, whose runner can use what it has in memory. */
  readonly before: HeldAttempt | null;
  /** A tree that is put back for it. */
  readonly tree: KeptTree | null;
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

  /**
   * Runs a claimed job, and the next one if the server returns one at its end.
   * @param tree that it continues in, of this slot's uid
   */
  async run(job: Job, tree: KeptTree | null): Promise<void> {
    const attempt = await this.#begin(job, { before: null, tree });
    if (attempt) await this.#complete(attempt);
    else if (tree) await this.#options.keptTrees.discard(tree);
  }

  /** Continues an attempt that an earlier agent process wrote to disk and may not have started. */
  async resume(attempt: HeldAttempt): Promise<void> {
    if (
      (await this.#hasBegun(attempt.paths)) ||
      (await this.#start(attempt, { refusal: null, before: null, tree: null }))
    )
      await this.#complete(attempt);
  }

  /** Creates an attempt in this slot and reports it to the agent. */
  hold(paths: SpoolPaths, job: Job, isFresh: boolean, receivedAt?: string): HeldAttempt {
    const { connection, launcher, workFolder, signal, log, countRuns, patienceSeconds } = this.#options;
    const attempt = new HeldAttempt({
      countRuns,
      patienceSeconds,
      connection,
      launcher,
      paths,
      job,
      workFolder,
      slotUid: this.#slot.uid,
      isFresh,
      receivedAt,
      signal,
      log,
    });
    this.#options.onChange.held(attempt);
    return attempt;
  }

  async #complete(first: HeldAttempt): Promise<void> {
    for (let attempt: HeldAttempt | null = first; attempt; ) {
      const { next, isAccepted, isGivenUp = false }: AttemptEnd = await attempt.complete();
      const following: HeldAttempt | null = next
        ? await this.#begin(next, { before: attempt, tree: null })
        : null;
      if (following) await this.#removePlan(attempt);
      else await this.#conclude(attempt, { mayWait: isAccepted && next === null, isGivenUp });
      this.#options.onChange.dropped(attempt.job);
      attempt = following;
    }
  }

  /** Removes the folder of a plan; failing to do so must not delay the apply. */
  async #removePlan({ paths, job }: HeldAttempt): Promise<void> {
    await Promise.all([removeFolder(paths.folder), this.#removeAside(job)]).catch((error: unknown) =>
      this.#options.log.error(
        { folder: paths.folder, err: error },
        'cannot remove the folder of a plan; the next start of the agent removes it',
      ),
    );
  }

  /** Removes what the attempt could not remove of a folder that was in its place. */
  async #removeAside(job: Job): Promise<void> {
    await forceRemove(asideOf(workFolderPaths(this.#options.workFolder, job), job));
  }

  /**
   * @returns null if the attempt cannot be fetched or written: the server assigns the job to another agent
   */
  async #begin(
    claimed: Job,
    { before, tree }: { readonly before: HeldAttempt | null; readonly tree: KeptTree | null },
  ): Promise<HeldAttempt | null> {
    const receivedAt = new Date().toISOString();
    const { connection, spool, workFolder, signal } = this.#options;
    const slotUid = this.#slot.uid;
    this.#options.onChange.claimed(claimed);
    try {
      const job = await this.#withSecrets(claimed, { before, tree });
      const [{ paths, refusal }] = await Promise.all([
        prepareAttempt({
          connection,
          attemptsFolder: spool.attemptsFolder,
          workFolder,
          slotUid,
          job,
          tree,
          signal,
        }),
        before && awaitRunnerEnd(this.#options.launcher, before.paths),
      ]);
      const attempt = this.hold(paths, job, true, receivedAt);
      return (await this.#start(attempt, { refusal, before, tree })) ? attempt : null;
    } catch (error) {
      this.#returnJob(claimed, error);
      return null;
    }
  }

  /** With everything that is masked: a secret that has changed since the plan may still be in its files. */
  async #withSecrets(
    claimed: Job,
    { before, tree }: { readonly before: HeldAttempt | null; readonly tree: KeptTree | null },
  ): Promise<Job> {
    const { secrets = [], resolveReferences, deliverCredentials, signal } = this.#options;
    const resolved = resolveReferences === undefined ? claimed : await resolveReferences(claimed, signal);
    const job = deliverCredentials === undefined ? resolved : await deliverCredentials(resolved, signal);
    // Those of the same variables are among the secrets of the phase before.
    const isSame = before !== null && isDeepStrictEqual(before.job.variables, job.variables);
    const inner = isSame ? [] : await innerSecrets(job.variables);
    const all = [
      ...job.secrets,
      ...inner,
      ...secrets,
      ...(before?.job.secrets ?? []),
      ...(tree?.masked ?? []),
    ];
    return { ...job, secrets: [...new Set(all)] };
  }

  /**
   * Starts the attempt in its slot. The server does not have to agree once more: it knows the attempt since
   * it was claimed, and refuses the calls of one that it has replaced.
   * @returns false if it was not started and its folder was removed
   */
  async #start(attempt: HeldAttempt, { refusal, before, tree }: Beginning): Promise<boolean> {
    try {
      // Its work folder may already belong to the attempt that replaced it.
      if (this.#options.isUnwanted(attempt.job)) throw new Error('the server has replaced it');
      if (tree) reinstate(tree, attempt.job);
      if (refusal === null) await this.#startRunner(attempt, before);
      else await writeJsonDurably(attempt.paths.outcome, refusedOutcome(refusal));
      return true;
    } catch (error) {
      this.#options.signal.throwIfAborted();
      await removeFolder(attempt.paths.folder);
      this.#returnJob(attempt.job, error);
      return false;
    }
  }

  async #startRunner(attempt: HeldAttempt, before: HeldAttempt | null): Promise<void> {
    const { launcher, workFolder, toolPaths, runOrder, onChange } = this.#options;
    const { index, uid } = this.#slot;
    const { paths, job } = attempt;
    const order = {
      attemptFolder: paths.folder,
      workFolder,
      slotUid: uid,
      toolPaths: toolPaths(job),
      ...runOrder,
    };
    const listener = {
      // The runner may be alive before it reports itself.
      chosen: (runner: ProcessIdentity) => writeJson(paths.slot, { index, uid, runner } satisfies SlotRecord),
      ended: () => attempt.notify(),
    };
    const preferred = before === null ? undefined : readSlotRecord(before.paths)?.runner;
    await launcher.start(order, listener, preferred);
    onChange.started();
  }

  /**
   * Returns a job to the server, which notices that the attempt is missing from the lists of held ones and
   * assigns the job to another agent.
   */
  #returnJob(job: Job, error: unknown): void {
    const { isUnwanted, onChange, signal, log } = this.#options;
    signal.throwIfAborted();
    const wasReplaced = isUnwanted(job) || isRefusal(error, 'fence_outdated');
    onChange.dropped(job);
    const { jobId, attempt } = job;
    if (wasReplaced)
      log.warn({ jobId, attempt }, 'the job was assigned to another agent before it was started here');
    else log.error({ jobId, attempt, err: error }, 'cannot start the attempt here; returning its job');
  }

  /** Whether a runner runs or ran it. A chosen runner gets its order immediately or never. */
  async #hasBegun(paths: SpoolPaths): Promise<boolean> {
    const { launcher, signal } = this.#options;
    for (;;) {
      const chosen = readSlotRecord(paths)?.runner;
      const isUndecided = chosen !== undefined && !launcher.runnerOf(chosen).hasEnded();
      if (existsSync(paths.runner) || existsSync(paths.outcome)) return true;
      if (!isUndecided) return false;
      await delay(pollMilliseconds, undefined, { signal });
    }
  }

  /**
   * Cleans up. A slot is not used again until all processes in it have ended.
   * `mayWait`: its plan may wait for a decision. `isGivenUp`: its spool folder is kept for a person.
   */
  async #conclude(
    attempt: HeldAttempt,
    { mayWait, isGivenUp }: { readonly mayWait: boolean; readonly isGivenUp: boolean },
  ): Promise<void> {
    const { launcher, workFolder, keptTrees, signal, log } = this.#options;
    for (;;) {
      try {
        await endEverything(launcher, attempt.paths, {
          job: attempt.job,
          workFolder,
          slotUid: this.#slot.uid,
        });
        if (readOutcome(attempt.paths)?.isLost === true)
          endStrandedSandboxes(this.#options.runOrder.isolation.seccompFile);
        if (
          mayWait &&
          awaitsApproval(attempt) &&
          (await keptTrees.keep(attempt.job, this.#slot, attempt.paths))
        ) {
          await this.#removeAside(attempt.job);
          return await removeFolder(attempt.paths.folder);
        }
        await removeAttempt(attempt.paths, attempt.job, workFolder, { slotUid: this.#slot.uid, isGivenUp });
        return await removeOldFailures(this.#options.keptFailures);
      } catch (error) {
        log.error(
          { err: error, jobId: attempt.job.jobId, attempt: attempt.job.attempt },
          'cannot clean up the slot; retrying',
        );
        await delay(pauseAfterErrorMilliseconds, undefined, { signal });
      }
    }
  }
}

/** Whether an attempt ended with a saved plan that needs an approval. */
function awaitsApproval({ paths, job }: HeldAttempt): boolean {
  const outcome = readOutcome(paths);
  const hasPlan = outcome?.result === 'planned' && outcome.approvedParts?.planFile !== undefined;
  return hasPlan && job.isApprovalSkipped !== true;
}

/** The outcome of a job that was claimed but cannot run here. */
function refusedOutcome(message: string): Outcome {
  return { result: 'internal', finishedAt: new Date().toISOString(), error: { message } };
}

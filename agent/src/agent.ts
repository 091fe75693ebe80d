/**
 * The agent's loops: it registers, continues the attempts of an earlier agent process, claims jobs while
 * slots are free, and reports which attempts it holds. Stopping it does not stop any run.
 */
import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { AgentIsolation } from '#contract/agents/shapes.ts';
import { type AgentTimings, protocolVersion, type RegisterReply } from '#protocol/messages/agent.ts';
import type { Job } from '#protocol/messages/job.ts';
import type { MemoryForRuns } from './capacity.ts';
import { conditionOf } from './condition.ts';
import type { AttemptRef } from './connection/connection.ts';
import { reasonOf } from './connection/refusals.ts';
import type { HeldAttempt } from './held/held-attempt.ts';
import { SlotWork, type SlotWorkOptions } from './held/slot-work.ts';
import { endProcessesOf, endStrandedSandboxes } from './processes/end-processes.ts';
import { bootId } from './processes/proc.ts';
import { createWake } from './processes/wake.ts';
import { logKeptFailures, removeOldFailures } from './slots/kept-failures.ts';
import type { Slot, SlotTable } from './slots/slot-table.ts';
import { readPlanned, workFolderPaths } from './slots/work-folder.ts';
import { WorkFolderLocks } from './slots/work-folder-locks.ts';
import { heldOf, nameOf } from './spool/attempt-names.ts';
import { isNotStarted, needsTree } from './spool/attempt-progress.ts';
import type { SpoolPaths } from './spool/layout.ts';
import { type FoundAttempt, findAttempts } from './spool/open-spool.ts';
import { readOutcome, readRunner, readSlotRecord } from './spool/read-attempt.ts';
import { removeFolder } from './spool/write-file.ts';

export interface AgentOptions extends Omit<SlotWorkOptions, 'onChange' | 'isUnwanted' | 'countRuns'> {
  readonly slots: SlotTable;
  readonly version: string;
  /** Template types that this agent accepts. */
  readonly tools: readonly string[];
  /** Isolation of its runs. */
  readonly isolation: AgentIsolation;
  /** Programs that are neither installed nor can be downloaded. */
  readonly missingPrograms: readonly string[];
  readonly memory: MemoryForRuns;
  /** Aborted: it claims nothing more, and ends `run` once its attempts have ended. */
  readonly drain: AbortSignal;
}

const claimWaitSeconds = 25;
const freeSlotPollMilliseconds = 60_000;
/** Until something that nobody reports: memory, and slots that fail. */
const lookAgainMilliseconds = 2_000;
const pauseAfterErrorMilliseconds = 5_000;
const retryHeartbeatMilliseconds = 1_000;
const firstSettings: AgentTimings = { heartbeatSeconds: 5, offlineGraceSeconds: 600, abortSeconds: 60 };

export class Agent {
  readonly #options: AgentOptions;
  readonly #workOptions: SlotWorkOptions;
  readonly #attempts = new Map<string, HeldAttempt>();
  /** Claimed, but not yet on disk. */
  readonly #claimed = new Map<string, Job>();
  /** Held by a slot that failed: the next agent process continues them. */
  readonly #stranded = new Set<string>();
  /** Claimed or held, and replaced by the server. */
  readonly #unwanted = new Set<string>();
  readonly #places = new WorkFolderLocks();
  readonly #slotFreed = createWake();
  #epoch = 0;
  #settings = firstSettings;

  constructor(options: AgentOptions) {
    this.#options = options;
    this.#workOptions = {
      ...options,
      isUnwanted: (job) => this.#unwanted.has(nameOf(job)),
      countRuns: () => this.#attempts.size,
      onChange: {
        claimed: (job) => void this.#claimed.set(nameOf(job), job),
        held: (attempt) => {
          this.#attempts.set(nameOf(attempt.job), attempt);
          this.#claimed.delete(nameOf(attempt.job));
        },
        started: () => this.#warm(),
        dropped: (job) => {
          this.#attempts.delete(nameOf(job));
          this.#claimed.delete(nameOf(job));
          this.#unwanted.delete(nameOf(job));
        },
      },
    };
    for (const signal of [options.signal, options.drain])
      signal.addEventListener('abort', () => this.#slotFreed.notify(), { once: true });
  }

  /** The folders of the held attempts. */
  *heldPaths(): Iterable<SpoolPaths> {
    for (const attempt of this.#attempts.values()) yield attempt.paths;
  }

  /**
   * Works until the signal, or until it has drained.
   * @throws a ServerRefusal if the server does not accept this agent at all
   */
  async run(): Promise<void> {
    const { spool, slots, signal } = this.#options;
    await this.#options.keptTrees.removeOld();
    await removeOldFailures(this.#options.keptFailures);
    logKeptFailures(this.#options.keptFailures);
    const found = await this.#findWanted(await findAttempts(spool));
    const reply = await this.#register(found);
    await this.#endOthers(found);
    for (const one of found)
      this.#resume(
        one,
        reply.unwanted.some((unwanted) => nameOf(unwanted) === nameOf(one.job)),
      );
    // Ends processes that an earlier agent process left in slots that are now free.
    await Promise.all(slots.freeUids().map((uid) => endProcessesOf(uid)));
    endStrandedSandboxes(this.#options.runOrder.isolation.seccompFile);
    this.#warm();
    const drained = new AbortController();
    const over = AbortSignal.any([signal, drained.signal]);
    const claims = this.#claims().then(() => drained.abort());
    await Promise.all([this.#heartbeats(over), claims]).catch((error: unknown) => {
      if (!over.aborted) throw error;
    });
  }

  /**
   * Reports to the server which attempts continue. If it does not answer, the next agent process reports
   * them.
   */
  async goodbye(): Promise<void> {
    const { connection, log } = this.#options;
    // Without a registration there is nothing to report.
    if (this.#epoch === 0) return;
    const held = this.#held();
    try {
      await connection.goodbye({ epoch: this.#epoch, held });
      log.info({ held: held.length }, 'agent signs off, runs continue');
    } catch (error) {
      log.warn(
        { held: held.length, reason: reasonOf(error) },
        'agent ends without signing off, runs continue',
      );
    }
  }

  #held(): AttemptRef[] {
    const jobs = [...[...this.#attempts.values()].map((attempt) => attempt.job), ...this.#claimed.values()];
    return jobs.map(heldOf);
  }

  /**
   * Plans whose apply is in the spool too are finished: only their folders remain to be removed. An apply that was
   * not started, and whose tree is neither kept nor in the spool, is assigned again by the server.
   */
  async #findWanted(found: readonly FoundAttempt[]): Promise<FoundAttempt[]> {
    const continued = new Set(
      found.flatMap(({ job }) => (job.approved?.continues ? [nameOf(job.approved.continues)] : [])),
    );
    const over = found.filter(
      (one) => continued.has(nameOf(one.job)) || (needsTree(one) && !this.#treeOf(one)),
    );
    for (const { paths } of over) await removeFolder(paths.folder);
    // Running attempts come first in their work place.
    return found
      .filter((one) => !over.includes(one))
      .sort((left, right) => Number(isNotStarted(left)) - Number(isNotStarted(right)));
  }

  async #register(found: readonly FoundAttempt[]): Promise<RegisterReply> {
    const { connection, spool, slots, tools, version, workFolder, isolation, signal, log } = this.#options;
    const reply = await connection.register(
      {
        protocol: protocolVersion,
        agentVersion: version,
        spoolId: spool.id,
        bootId: bootId(),
        hostname: hostname(),
        processId: process.pid,
        tools: [...tools],
        workFolder,
        slots: slots.count,
        held: found.map(({ job }) => heldOf(job)),
        isolation,
      },
      signal,
    );
    this.#epoch = reply.epoch;
    this.#settings = reply.settings;
    log.info(
      { agentId: reply.agentId, epoch: reply.epoch, slots: slots.count, tools, held: found.length },
      'agent is registered',
    );
    return reply;
  }

  /** No group outlives its attempt, whatever ended the agent. */
  async #endOthers(found: readonly FoundAttempt[]): Promise<void> {
    const { launcher, log } = this.#options;
    const runners = found.map(({ paths }) => readRunner(paths));
    try {
      await launcher.endOthers(runners.filter((runner) => runner !== null));
    } catch (error) {
      log.error({ err: error }, 'cannot end what earlier runs left; the next start of the agent tries again');
    }
  }

  async #heartbeats(signal: AbortSignal): Promise<void> {
    const { connection, slots, keptTrees, memory, drain, log } = this.#options;
    for (;;) {
      await delay(this.#settings.heartbeatSeconds * 1000, undefined, { signal });
      keptTrees.tidy();
      try {
        const reply = await connection.heartbeat(
          () => ({
            epoch: this.#epoch,
            held: this.#held(),
            freeSlots: slots.freeCount,
            condition: conditionOf(this.#options, {
              isDraining: drain.aborted,
              memoryShortage: slots.freeCount === 0 ? null : memory.lastingShortage(this.#countRunning()),
            }),
          }),
          signal,
        );
        this.#settings = reply.settings;
        for (const abort of reply.abort) await this.#attempts.get(nameOf(abort))?.abort(abort.how);
        for (const unwanted of reply.unwanted) this.#discard(nameOf(unwanted));
      } catch (error) {
        signal.throwIfAborted();
        log.warn({ reason: reasonOf(error) }, 'heartbeat failed');
        await delay(retryHeartbeatMilliseconds, undefined, { signal });
      }
    }
  }

  /** The attempts and jobs of slots that work. */
  #inWork(): string[] {
    return [...this.#attempts.keys(), ...this.#claimed.keys()].filter((name) => !this.#stranded.has(name));
  }

  /** The number of those that have yet to end: others only wait for the service. */
  #countRunning(): number {
    const pathsOf = (name: string) => this.#attempts.get(name)?.paths;
    return this.#inWork()
      .map(pathsOf)
      .filter((paths) => !paths || readOutcome(paths) === null).length;
  }

  /** Claims until it is to stop or to drain; then waits for the end of its attempts. */
  async #claims(): Promise<void> {
    const { connection, slots, memory, drain, signal, log } = this.#options;
    const ends = AbortSignal.any([signal, drain]);
    const freed = this.#slotFreed.waiter();
    while (!ends.aborted) {
      const hasRoom = slots.freeCount > 0 && memory.shortage(this.#countRunning()) === null;
      if (!hasRoom) {
        await freed.wait(slots.freeCount === 0 ? freeSlotPollMilliseconds : lookAgainMilliseconds);
        continue;
      }
      try {
        const { job } = await connection.claim({ epoch: this.#epoch, waitSeconds: claimWaitSeconds }, ends);
        const slot = job && slots.occupy();
        if (job && slot) this.#runClaimed(job, slot);
      } catch (error) {
        if (ends.aborted) break;
        log.error({ reason: reasonOf(error) }, 'claim was refused; retrying');
        await delay(pauseAfterErrorMilliseconds, undefined, { signal: ends }).catch(() => undefined);
      }
    }
    signal.throwIfAborted();
    log.info({ held: this.#attempts.size }, 'agent takes no further jobs, and ends after its runs');
    while (!signal.aborted && this.#inWork().length > 0) await freed.wait(lookAgainMilliseconds);
  }

  #runClaimed(job: Job, slot: Slot): void {
    const { slots, keptTrees, memory } = this.#options;
    memory.begin();
    this.#claimed.set(nameOf(job), job);
    void this.#occupy(job, async () => {
      const tree = keptTrees.take(job);
      const used = tree ? slots.exchangeUid(slot, tree.slotUid) : slot;
      await new SlotWork(this.#workOptions, used).run(job, tree);
      return used;
    });
  }

  /** Continues an attempt of an earlier agent process. */
  #resume({ paths, job }: FoundAttempt, isUnwanted: boolean): void {
    const { slots, log } = this.#options;
    const record = readSlotRecord(paths);
    const isOver = readOutcome(paths) !== null;
    log.info(
      { jobId: job.jobId, attempt: job.attempt, phase: job.phase, isOver, isUnwanted },
      'continuing an attempt of an earlier agent',
    );
    const uid = this.#treeOf({ paths, job })?.slotUid;
    const slot = record ? slots.reoccupy(record) : isUnwanted && !isOver ? null : slots.occupy(uid);
    if (!slot) {
      // Nothing was started: the server assigns the job to another agent.
      void removeFolder(paths.folder);
      return;
    }
    const work = new SlotWork(this.#workOptions, slot);
    const attempt = work.hold(paths, job, false);
    if (isUnwanted) this.#discard(nameOf(job));
    void this.#occupy(job, async () => {
      await work.resume(attempt);
      return slot;
    });
  }

  /** Running commands are stopped, and others never start. */
  #discard(name: string): void {
    const attempt = this.#attempts.get(name);
    if (attempt || this.#claimed.has(name)) this.#unwanted.add(name);
    attempt?.discard();
  }

  /** Does the work of a slot in the work place of its job, and then releases the slot, which it returns. */
  async #occupy(job: Job, work: () => Promise<Slot>): Promise<void> {
    const { slots, signal, log, workFolder } = this.#options;
    this.#warm();
    using _place = await this.#places.enter(workFolderPaths(workFolder, job).root);
    try {
      slots.release(await work());
    } catch (error) {
      // Unfinished work is in the spool, for the next agent.
      this.#stranded.add(nameOf(job));
      if (!signal.aborted)
        log.error(
          { err: error, jobId: job.jobId, attempt: job.attempt },
          'slot failed and is not used before a restart of the agent',
        );
      return;
    }
    this.#slotFreed.notify();
    this.#warm();
  }

  /** The tree that an attempt is to continue in, where it is in its place. */
  #treeOf({ job }: FoundAttempt) {
    const continues = job.approved?.continues;
    return continues && readPlanned(workFolderPaths(this.#options.workFolder, job), continues);
  }

  #warm(): void {
    const { launcher, slots } = this.#options;
    launcher.warm(slots.count);
  }
}

/**
 * The trees of plans that wait for a decision: an apply that this agent claims continues in them, without another
 * checkout or init. Each is a closed work folder, set aside under a name that no other agent uses, and the uid of its
 * owner is reserved. Files that contain variables are kept in memory instead, and so are plan and state. An apply whose tree is missing restores
 * it from the service. Trees do not outlive the agent's process: the next one removes them.
 */
import { existsSync, renameSync, statfsSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { HeldAttempt } from '#protocol/messages/attempt.ts';
import type { Job } from '#protocol/messages/job.ts';
import type { SpoolPaths } from '../spool/layout.ts';
import { nullIfMissing } from '../spool/read-attempt.ts';
import { readInside, removeInside, writeInside } from './closed-tree.ts';
import { forceRemove } from './remove-folder.ts';
import type { Slot, SlotTable } from './slot-table.ts';
import { closeWorkFolder, readPlanned, type WorkFolderPaths, workFolderPaths } from './work-folder.ts';
import { type AttemptId, clearWorkFolder } from './work-folder-owner.ts';

export interface KeptTreesOptions {
  /** Absolute path. Other agents may use it, too. */
  readonly workFolder: string;
  /** Identifies this agent's trees in the work folder. */
  readonly spoolId: string;
  readonly slots: SlotTable;
  /** The maximum number of trees; 0: none is kept. */
  readonly limit: number;
  /** Space that runs leave free on the file system; trees are removed long before. */
  readonly reserveBytes: number;
  readonly log: { error(data: object, text: string): void };
}

/** A tree that is kept for the apply of its plan. */
export interface KeptTree {
  readonly by: Pick<HeldAttempt, 'jobId' | 'attempt'>;
  readonly place: WorkFolderPaths;
  /** Place where it is while it is set aside. */
  readonly folder: string;
  readonly slotUid: number | null;
  /** Contents of the files that contain variables, by their names relative to the tree. */
  readonly secrets: ReadonlyMap<string, Uint8Array>;
  /** Values that were masked in its plan: those of a secret store may have changed since. */
  readonly masked: readonly string[];
  /** The saved plan; null: too large to keep in memory. */
  readonly plan: Uint8Array | null;
  /** The state that it was made on; null: none, or too large. */
  readonly state: Uint8Array | null;
  /** By `performance.now()`. */
  readonly expiresAt: number;
}

/** Of each file that is kept in memory. */
const maxSecretBytes = 1_000_000;
/** Trees are removed while less than this many times the reserve of runs is free. */
const reserveFactor = 4;

export class KeptTrees {
  readonly #options: KeptTreesOptions;
  /** By the place of their work folder, the oldest first. */
  readonly #trees = new Map<string, KeptTree>();
  readonly #suffix: string;
  #isTidying = false;

  constructor(options: KeptTreesOptions) {
    this.#options = options;
    this.#suffix = `.planned-${options.spoolId}-`;
  }

  get count(): number {
    return this.#trees.size;
  }

  /**
   * Keeps the tree of a plan whose processes have all ended, if there is room. Removes older ones for it.
   * @param slot that the plan ran in; its uid stays with the tree
   * @param spool the folder of the plan's attempt
   * @returns false if it is not kept: what is still in its place is for the caller to remove
   */
  async keep(job: Job, slot: Slot, spool: SpoolPaths): Promise<boolean> {
    const { workFolder, slots, limit, log } = this.#options;
    const place = workFolderPaths(workFolder, job);
    const planned = readPlanned(place, job);
    if (planned?.slotUid !== slot.uid || limit === 0 || this.#isDiskLow()) return false;
    while (!slots.reserveUid(slot)) if (!this.#evictOldest()) return false;
    const folder = `${place.root}${this.#suffix}${job.jobId}-${job.attempt}`;
    try {
      // At once: another agent of this machine may use the place from now on, for the apply.
      closeWorkFolder(place);
      renameSync(place.root, folder);
      const secrets = await takeSecrets(join(folder, basename(place.tree)), planned.secretFiles);
      const [plan, state] = await Promise.all([spool.outputPlan, spool.inputState].map(readSmall));
      this.#trees.set(place.root, {
        by: { jobId: job.jobId, attempt: job.attempt },
        place,
        folder,
        slotUid: slot.uid,
        secrets,
        masked: job.secrets,
        plan: plan ?? null,
        state: state ?? null,
        // Cached providers that it links to are kept for another phase of that length.
        expiresAt: performance.now() + job.limits.runSeconds * 1000,
      });
    } catch (error) {
      slots.freeUid(slot.uid);
      log.error(
        { err: error, folder: place.root },
        'cannot keep the tree of a plan; its apply will restore it',
      );
      await this.#remove(folder);
      return false;
    }
    while (this.#trees.size > limit) this.#evictOldest();
    return true;
  }

  /**
   * The tree that a claimed job continues in, no longer among the kept ones; null if there is none. A tree that
   * was kept for another deployment of the environment is removed. Call it in the job's work place.
   */
  take(job: Job): KeptTree | null {
    const tree = this.#trees.get(workFolderPaths(this.#options.workFolder, job).root);
    if (tree === undefined) return null;
    const continues = job.approved?.continues;
    const isFor = continues?.jobId === tree.by.jobId && continues.attempt === tree.by.attempt;
    if (!isFor || !existsSync(tree.folder)) {
      void this.#evict(tree);
      return null;
    }
    this.#trees.delete(tree.place.root);
    return tree;
  }

  /** Removes trees whose time is over, and others while the disk is nearly full. Does not wait for the end. */
  tidy(): void {
    const now = performance.now();
    for (const tree of this.#trees.values()) if (tree.expiresAt <= now) void this.#evict(tree);
    if (this.#isTidying) return;
    this.#isTidying = true;
    this.#makeSpace()
      .catch((error: unknown) =>
        this.#options.log.error({ err: error }, 'cannot find out how full the disk of the kept trees is'),
      )
      .finally(() => {
        this.#isTidying = false;
      });
  }

  /** Removes what an earlier process of this agent kept; call it before anything is kept. Does not wait for the end. */
  async removeOld(): Promise<void> {
    const { workFolder } = this.#options;
    const names = (await readdir(workFolder)).filter((name) => name.includes(this.#suffix));
    void Promise.all(names.map((name) => this.#remove(join(workFolder, name))));
  }

  /** Removes a tree that was taken, and whose apply does not start. Call it in the job's work place. */
  async discard(tree: KeptTree): Promise<void> {
    await this.#remove(tree.folder);
    if (readPlanned(tree.place, tree.by) === null) return;
    renameSync(tree.place.root, tree.folder);
    await this.#remove(tree.folder);
  }

  async #makeSpace(): Promise<void> {
    for (;;) {
      const [oldest] = this.#trees.values();
      if (oldest === undefined || !this.#isDiskLow()) return;
      await this.#evict(oldest);
    }
  }

  #isDiskLow(): boolean {
    const { workFolder, reserveBytes } = this.#options;
    const { bavail, bsize } = statfsSync(workFolder);
    return bavail * bsize < reserveBytes * reserveFactor;
  }

  #evictOldest(): boolean {
    const [oldest] = this.#trees.values();
    if (oldest !== undefined) void this.#evict(oldest);
    return oldest !== undefined;
  }

  /** The uid is free at once: the folder around its files stays closed to it. */
  async #evict(tree: KeptTree): Promise<void> {
    this.#trees.delete(tree.place.root);
    this.#options.slots.freeUid(tree.slotUid);
    await this.#remove(tree.folder);
  }

  async #remove(folder: string): Promise<void> {
    try {
      await forceRemove(folder);
    } catch (error) {
      this.#options.log.error(
        { err: error, folder },
        'cannot remove a kept tree; the next start of the agent tries again',
      );
    }
  }
}

/**
 * Puts a taken tree back to its place, complete and still closed. Call it in the job's work place.
 * @param attempt the one that continues in it
 * @throws an Error if it cannot be completed, or another attempt is executed in its place: then it is not in its place, where a run would continue in it
 */
export function reinstate({ place, folder, secrets, slotUid }: KeptTree, attempt: AttemptId): void {
  for (const [name, content] of secrets)
    writeInside(join(folder, basename(place.tree)), name, content, slotUid);
  clearWorkFolder(place, attempt);
  renameSync(folder, place.root);
}

async function readSmall(file: string): Promise<Uint8Array | null> {
  const found = await stat(file).catch(nullIfMissing);
  return found !== null && found.size <= maxSecretBytes ? readFile(file) : null;
}

/** Removes files from a tree. @throws an Error if one cannot be kept in memory */
async function takeSecrets(tree: string, names: readonly string[]): Promise<Map<string, Uint8Array>> {
  const contents = new Map<string, Uint8Array>();
  for (const name of names) {
    const content = await readInside(tree, join(tree, name), maxSecretBytes);
    if (content === null) throw new Error(`${name} is missing or too large`);
    removeInside(tree, name);
    contents.set(name, content);
  }
  return contents;
}

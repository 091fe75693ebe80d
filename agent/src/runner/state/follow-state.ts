/**
 * Copies each complete version of the state to the spool while a tool changes resources. Terraform truncates
 * and rewrites its file in place, so that many reads are torn; those are repeated.
 */
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { sha256 } from '#protocol/approved.ts';
import { type StateCapability, type StateReading, TornState } from '../../drivers/driver.ts';
import type { SpoolPaths } from '../../spool/layout.ts';
import { isFullDisk, whenThereIsSpace } from '../../processes/full-disk.ts';
import { writeDurably } from '../../spool/write-file.ts';
import type { TreeClient } from '../tree/tree-client.ts';

export interface FollowRequest {
  readonly spool: SpoolPaths;
  readonly state: Pick<StateCapability, 'read' | 'rescueFile'>;
  readonly stateFolder: string;
  /** Name of the state file below the state folder. */
  readonly stateFile: string;
  /** Where the tool leaves a state that it could not store. */
  readonly configurationFolder: string;
  readonly tree: TreeClient;
}

/** The newest copied version, or the one that the attempt started with. */
export interface KnownState extends StateReading {
  readonly sha256: string;
  /** Whether it differs from the one that the attempt started with. */
  readonly isNew: boolean;
}

const pollMilliseconds = 100;
const keptVersions = 2;
/** Larger files are never read. */
const stateLimitBytes = 512_000_000;

export class StateFollower implements AsyncDisposable {
  readonly #request: FollowRequest;
  readonly #initialHash: string | null;
  #latest: KnownState | null;
  #stamp: string | null = null;
  #number: number;
  #stopping = new AbortController();
  #loop: Promise<void> | null = null;

  constructor(request: FollowRequest) {
    this.#request = request;
    this.#number = newestNumber(request.spool.states);
    const initial = readOrNull(request.spool.inputState);
    this.#initialHash = initial === null ? null : sha256(initial);
    this.#latest =
      initial === null ? null : { ...request.state.read(initial), sha256: sha256(initial), isNew: false };
    const copied =
      this.#number === 0 ? null : readOrNull(join(request.spool.states, `${this.#number}.tfstate`));
    if (copied !== null)
      this.#latest = { ...request.state.read(copied), sha256: sha256(copied), isNew: true };
  }

  /** Starts following in the background. */
  start(): void {
    this.#loop ??= this.#follow();
  }

  /**
   * Stops following and copies the last version, once the tool has ended.
   * @returns the newest complete state; null if there never was one
   */
  async copyLast(): Promise<KnownState | null> {
    await this[Symbol.asyncDispose]();
    this.#stamp = null;
    await this.#reopen();
    await whenThereIsSpace(async () => {
      await this.#copyIfNew(this.#request.stateFolder, this.#request.stateFile);
      await this.#copyRescued();
    });
    return this.#latest;
  }

  async #reopen(): Promise<void> {
    const { tree, state, stateFolder, stateFile, configurationFolder } = this.#request;
    await tree.reopen(stateFolder, stateFile);
    await tree.reopen(configurationFolder, state.rescueFile);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    await this.#loop;
  }

  async #follow(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const startedAt = performance.now();
      // A read error recurs, and is reported, when the last version is copied.
      await this.#copyIfNew(this.#request.stateFolder, this.#request.stateFile).catch(() => undefined);
      const spent = performance.now() - startedAt;
      await delay(Math.max(pollMilliseconds, spent * 5), undefined, { signal }).catch(() => undefined);
    }
  }

  async #copyIfNew(folder: string, name: string): Promise<void> {
    const { tree } = this.#request;
    const stamp = await tree.stamp(folder, name);
    if (stamp === null || stamp === this.#stamp) return;
    const bytes = await tree.read(folder, name, stateLimitBytes);
    const isTorn = bytes === null || !(await this.#copy(bytes));
    this.#stamp = isTorn ? null : stamp;
  }

  /** @returns false if the bytes are not a complete state */
  async #copy(bytes: Uint8Array): Promise<boolean> {
    const hash = sha256(bytes);
    if (hash === this.#latest?.sha256 || hash === this.#initialHash) return true;
    const reading = this.#readOrTorn(bytes);
    if (reading === null) return false;
    await this.#store(bytes, { ...reading, sha256: hash, isNew: true });
    return true;
  }

  async #store(bytes: Uint8Array, known: KnownState): Promise<void> {
    const { states } = this.#request.spool;
    const number = this.#number + 1;
    const write = () => writeDurably(join(states, `${number}.tfstate`), bytes);
    const removeOlder = (count: number) => rmSync(join(states, `${number - count}.tfstate`), { force: true });
    await write().catch((error: unknown) => {
      if (!isFullDisk(error)) throw error;
      // The newest version of before suffices.
      removeOlder(keptVersions);
      return write();
    });
    this.#number = number;
    removeOlder(keptVersions);
    this.#latest = known;
  }

  #readOrTorn(bytes: Uint8Array): StateReading | null {
    try {
      return this.#request.state.read(bytes);
    } catch (error) {
      if (error instanceof TornState) return null;
      throw error;
    }
  }

  async #copyRescued(): Promise<void> {
    const { configurationFolder, state, tree } = this.#request;
    // An unreadable file, such as a link that the run created, is not a state that the tool left.
    const bytes = await tree.read(configurationFolder, state.rescueFile, stateLimitBytes).catch(() => null);
    const reading = bytes === null ? null : this.#readOrTorn(bytes);
    if (bytes === null || reading === null) return;
    const isNewer =
      this.#latest === null ||
      (reading.lineage === this.#latest.lineage && reading.serial > this.#latest.serial);
    if (isNewer) await this.#store(bytes, { ...reading, sha256: sha256(bytes), isNew: true });
  }
}

function newestNumber(folder: string): number {
  const numbers = readdirSync(folder).map((name) => Number(/^(\d+)\.tfstate$/.exec(name)?.[1] ?? 0));
  return Math.max(0, ...numbers);
}

function readOrNull(path: string): Buffer | null {
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

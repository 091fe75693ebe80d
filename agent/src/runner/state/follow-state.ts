/**
 * Copies each complete version of the state to the spool while a tool changes resources. Terraform truncates
 * and rewrites its file in place, so that many reads are torn; those are repeated.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { StateCapability, StateFileCapability } from '../../drivers/interface/driver.ts';
import type { SeveralFiles } from '../../drivers/interface/state-places.ts';
import { whenThereIsSpace } from '../../processes/full-disk.ts';
import type { SpoolPaths } from '../../spool/layout.ts';
import type { TreeClient } from '../tree/tree-client.ts';
import { type KnownState, SpooledStates } from './spooled-states.ts';
import { oneFile, type StateFiles, severalFiles } from './state-files.ts';

export interface FollowRequest {
  readonly spool: SpoolPaths;
  readonly state: Pick<StateCapability, 'read'> & Pick<StateFileCapability, 'rescueFile'>;
  readonly stateFolder: string;
  /** Name of the state file below the state folder. */
  readonly stateFile: string;
  /** Null or absent: the state is that file. */
  readonly several?: SeveralFiles | null;
  /** File in which the tool leaves a state that it could not store. */
  readonly configurationFolder: string;
  readonly tree: TreeClient;
}

const pollMilliseconds = 100;
/** Larger files are never read. */
const stateLimitBytes = 512_000_000;

export class StateFollower implements AsyncDisposable {
  readonly #request: FollowRequest;
  readonly #states: SpooledStates;
  readonly #files: StateFiles;
  #isWritten = false;
  #stopping = new AbortController();
  #loop: Promise<void> | null = null;

  constructor(request: FollowRequest) {
    this.#request = request;
    this.#states = new SpooledStates(request.spool, request.state);
    const { tree, stateFolder, stateFile, several } = request;
    const folder = {
      list: (below: string) => tree.list(stateFolder, below),
      stamp: (name: string) => tree.stamp(stateFolder, name),
      read: (name: string) => tree.read(stateFolder, name, stateLimitBytes),
    };
    this.#files = several
      ? severalFiles(folder, several, () => this.#states.latestBytes())
      : oneFile(folder, stateFile);
  }

  /** Starts following in the background, before the tool starts. */
  async start(): Promise<void> {
    await this.#files.notice();
    this.#loop ??= this.#follow();
  }

  /**
   * Whether the tool has written a complete file, according to `copyLast`. A change that restores what the state
   * already describes, such as that of a file that was removed by hand, leaves the same content.
   */
  get isWritten(): boolean {
    return this.#isWritten;
  }

  /** The same for the part of the state that has a resource; true where it is not known which one that is. */
  hasWritten(address: string): boolean {
    const part = this.#request.several?.partOf?.(address) ?? null;
    return part === null || this.#files.hasWritten(part);
  }

  /**
   * Stops following and copies the last version, once the tool has ended.
   * @returns the newest complete state; null if there never was one
   * @throws Error, after the rest was copied, if something else is in the place of a part of the state
   */
  async copyLast(): Promise<KnownState | null> {
    await this[Symbol.asyncDispose]();
    this.#files.forget();
    await this.#reopen();
    await whenThereIsSpace(async () => {
      await this.#copyIfNew();
      await (this.#request.several ? this.#copySeveralRescued(this.#request.several) : this.#copyRescued());
    });
    if (this.#files.problem !== null) throw this.#files.problem;
    return this.#states.latest;
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
      await this.#copyIfNew().catch(() => undefined);
      const spent = performance.now() - startedAt;
      await delay(Math.max(pollMilliseconds, spent * 5), undefined, { signal }).catch(() => undefined);
    }
  }

  async #copyIfNew(): Promise<void> {
    const bytes = await this.#files.readIfNew();
    if (bytes === null) return;
    let isTorn = true;
    try {
      isTorn = !(await this.#states.put(bytes));
    } finally {
      // Torn, or the disk is full: it is read again.
      if (isTorn) this.#files.forget();
    }
    this.#isWritten = !isTorn && this.#files.isWritten;
  }

  async #copyRescued(): Promise<void> {
    const { configurationFolder, state, tree } = this.#request;
    // An unreadable file, such as a link that the run created, is not a state that the tool left.
    const bytes = await tree.read(configurationFolder, state.rescueFile, stateLimitBytes).catch(() => null);
    const reading = bytes === null ? null : this.#states.readOrTorn(bytes);
    if (bytes === null || reading === null) return;
    const { latest } = this.#states;
    const isNewer = latest === null || (reading.lineage === latest.lineage && reading.serial > latest.serial);
    if (isNewer) await this.#states.store(bytes, reading);
  }

  /** Parts that the tool could not store replace those that it did. */
  async #copySeveralRescued(several: SeveralFiles): Promise<void> {
    const { configurationFolder, tree } = this.#request;
    const list = (folder: string) => tree.list(configurationFolder, folder).catch(() => []);
    const rescued = await several.rescued(list);
    if (rescued.length === 0) return;
    const paths = new Map(rescued.map(({ part, path }) => [part, path]));
    const files = severalFiles(
      {
        list: async () => [...paths.keys()],
        stamp: (part) => tree.stamp(configurationFolder, paths.get(part) ?? '').catch(() => null),
        read: (part) =>
          tree.read(configurationFolder, paths.get(part) ?? '', stateLimitBytes).catch(() => null),
      },
      several,
      () => this.#states.latestBytes(),
    );
    const bytes = await files.readIfNew();
    if (bytes !== null) await this.#states.put(bytes);
  }
}

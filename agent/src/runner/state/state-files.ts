/** The files in which a tool keeps a state, read while it may be writing them. */
import { posix } from 'node:path';
import { TornState } from '../../drivers/interface/driver.ts';
import type { SeveralFiles } from '../../drivers/interface/state-places.ts';

/** Reads files of a folder; each of its functions returns null or nothing for one that does not exist. */
export interface FolderReader {
  /** @param below a folder in it; `''`: itself */
  list(below: string): Promise<string[]>;
  /** A text that changes with the file's content. */
  stamp(name: string): Promise<string | null>;
  read(name: string): Promise<Uint8Array | null>;
}

export interface StateFiles {
  /** The state, if files have changed since the last time; null if nothing is new, or nothing is complete. */
  readIfNew(): Promise<Uint8Array | null>;
  /** Remembers the files as they are, before the tool starts. */
  notice(): Promise<void>;
  /** Whether what was read last was written after `notice`. */
  readonly isWritten: boolean;
  /** The same for one part. */
  hasWritten(part: string): boolean;
  /** Why a part could not be read the last time: something else is in its place. The others count all the same. */
  readonly problem: Error | null;
  /** The last file is read again: it was not a complete state, or may have changed unnoticed. */
  forget(): void;
}

/** A state that is one file. */
export function oneFile(folder: FolderReader, name: string): StateFiles {
  let known: string | null = null;
  let noticed: string | null = null;
  let isWritten = false;
  return {
    get isWritten() {
      return isWritten;
    },
    hasWritten: () => isWritten,
    problem: null,
    async notice() {
      noticed = await folder.stamp(name);
    },
    async readIfNew() {
      const stamp = await folder.stamp(name);
      if (stamp === null || stamp === known) return null;
      const bytes = await folder.read(name);
      known = bytes === null ? null : stamp;
      isWritten = stamp !== noticed;
      return bytes;
    },
    forget() {
      known = null;
    },
  };
}

/** All parts of a state together; more would not fit into one state either. */
const allPartsBytes = 512_000_000;

/** Reads the parts of a state one by one. */
class Parts {
  readonly #folder: FolderReader;
  readonly #several: SeveralFiles;
  /** By name: of what `files` has. */
  readonly stamps = new Map<string, string>();
  /** By name: the last complete content. */
  readonly files = new Map<string, Uint8Array>();
  problem: Error | null = null;

  constructor(folder: FolderReader, several: SeveralFiles) {
    this.#folder = folder;
    this.#several = several;
  }

  async names(): Promise<string[]> {
    const folder = this.#folder;
    const folders = (await this.#several.folders?.((below) => folder.list(below))) ?? [''];
    const names = await Promise.all(folders.map((below) => this.#namesIn(below)));
    return names
      .flat()
      .filter((name) => this.#several.isPart(name))
      .sort();
  }

  async #namesIn(below: string): Promise<string[]> {
    const list = () => this.#folder.list(below);
    const names = below === '' ? await list() : await this.#orProblem(below, list, []);
    return names.map((name) => posix.join(below, name));
  }

  /** @returns whether it has another complete content than before */
  readIfNew(name: string): Promise<boolean> {
    return this.#orProblem(name, () => this.#read(name), false);
  }

  async #read(name: string): Promise<boolean> {
    const stamp = await this.#folder.stamp(name);
    if (stamp === null || stamp === this.stamps.get(name)) return false;
    const bytes = await this.#folder.read(name);
    if (bytes === null || !isComplete(this.#several, bytes)) return false;
    const others = [...this.files].filter(([other]) => other !== name);
    if (others.reduce((sum, [, { length }]) => sum + length, bytes.length) > allPartsBytes)
      throw new Error(`all parts together have more than ${allPartsBytes / 1e6} MB`);
    this.stamps.set(name, stamp);
    this.files.set(name, bytes);
    return true;
  }

  async #orProblem<Value>(place: string, work: () => Promise<Value>, otherwise: Value): Promise<Value> {
    try {
      return await work();
    } catch (error) {
      this.problem ??= new Error(`${place}: ${(error as Error).message}`, { cause: error });
      return otherwise;
    }
  }
}

/**
 * A state that is several files. One that is torn counts with its last complete content.
 * @param before the newest state that is stored, each time that the files are joined; null: none
 */
export function severalFiles(
  folder: FolderReader,
  several: SeveralFiles,
  before: () => Uint8Array | null,
): StateFiles {
  const parts = new Parts(folder, several);
  const noticed = new Map<string, string | null>();
  const hasWritten = (name: string) => parts.stamps.has(name) && parts.stamps.get(name) !== noticed.get(name);
  return {
    get problem() {
      return parts.problem;
    },
    get isWritten() {
      return [...parts.stamps.keys()].some(hasWritten);
    },
    hasWritten,
    async notice() {
      for (const name of await parts.names()) noticed.set(name, await folder.stamp(name).catch(() => null));
    },
    async readIfNew() {
      parts.problem = null;
      let isNew = false;
      for (const name of await parts.names()) isNew = (await parts.readIfNew(name)) || isNew;
      return isNew ? joined(several, parts.files, before()) : null;
    },
    forget: () => parts.stamps.clear(),
  };
}

/** @returns null if the files are not a state yet */
function joined(
  several: SeveralFiles,
  files: ReadonlyMap<string, Uint8Array>,
  before: Uint8Array | null,
): Uint8Array | null {
  try {
    return several.join(files, before);
  } catch (error) {
    if (error instanceof TornState) return null;
    throw error;
  }
}

function isComplete(several: SeveralFiles, bytes: Uint8Array): boolean {
  try {
    several.check(bytes);
    return true;
  } catch (error) {
    if (error instanceof TornState) return false;
    throw error;
  }
}

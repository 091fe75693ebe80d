/** The files in which a tool keeps a state, read while it may be writing them. */
import { posix } from 'node:path';
import { TornState } from '../../drivers/driver.ts';
import type { SeveralFiles } from '../../drivers/state-places.ts';

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
  /** What was read last is read again: it was not a complete state, or may have changed unnoticed. */
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

/**
 * A state that is several files. One that is torn counts with its last complete content.
 * @param before the newest state that is stored; null: none
 */
export function severalFiles(
  folder: FolderReader,
  several: SeveralFiles,
  before: Uint8Array | null,
): StateFiles {
  const stamps = new Map<string, string>();
  const files = new Map<string, Uint8Array>();
  const noticed = new Map<string, string | null>();
  const namesIn = async (below: string) => (await folder.list(below)).map((name) => posix.join(below, name));
  const namesNow = async () => {
    const folders = (await several.folders?.((below) => folder.list(below))) ?? [''];
    const names = await Promise.all(folders.map(namesIn));
    return names
      .flat()
      .filter((name) => several.isPart(name))
      .sort();
  };
  const readOne = async (name: string): Promise<boolean> => {
    const stamp = await folder.stamp(name);
    if (stamp === null || stamp === stamps.get(name)) return false;
    const bytes = await folder.read(name);
    if (bytes === null || !isComplete(several, bytes)) return false;
    stamps.set(name, stamp);
    files.set(name, bytes);
    return true;
  };
  return {
    get isWritten() {
      return [...stamps].some(([name, stamp]) => noticed.get(name) !== stamp);
    },
    async notice() {
      for (const name of await namesNow()) noticed.set(name, await folder.stamp(name));
    },
    async readIfNew() {
      let isNew = false;
      for (const name of await namesNow()) isNew = (await readOne(name)) || isNew;
      return isNew ? joined(several, files, before) : null;
    },
    forget: () => stamps.clear(),
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

/** The versions of the state that an attempt has in the spool: the two newest, each complete and durable. */
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { sha256 } from '#protocol/approved.ts';
import { type StateCapability, type StateReading, TornState } from '../../drivers/interface/driver.ts';
import { isFullDisk } from '../../processes/full-disk.ts';
import type { SpoolPaths } from '../../spool/layout.ts';
import { writeDurably } from '../../spool/write-file.ts';

/** The newest copied version, or the one that the attempt started with. */
export interface KnownState extends StateReading {
  readonly sha256: string;
  /** Whether it differs from the one that the attempt started with. */
  readonly isNew: boolean;
}

const keptVersions = 2;

export class SpooledStates {
  readonly #spool: Pick<SpoolPaths, 'states' | 'inputState'>;
  readonly #state: Pick<StateCapability, 'read'>;
  readonly #initialHash: string | null;
  #latest: KnownState | null;
  #number: number;

  constructor(spool: Pick<SpoolPaths, 'states' | 'inputState'>, state: Pick<StateCapability, 'read'>) {
    this.#spool = spool;
    this.#state = state;
    this.#number = newestNumber(spool.states);
    const initial = readOrNull(spool.inputState);
    this.#initialHash = initial === null ? null : sha256(initial);
    this.#latest =
      initial === null ? null : { ...state.read(initial), sha256: sha256(initial), isNew: false };
    const copied = this.#number === 0 ? null : readOrNull(join(spool.states, `${this.#number}.tfstate`));
    if (copied !== null) this.#latest = { ...state.read(copied), sha256: sha256(copied), isNew: true };
  }

  /** The newest complete version; null if there never was one. */
  get latest(): KnownState | null {
    return this.#latest;
  }

  /** The bytes of `latest`; null if there is none. */
  latestBytes(): Uint8Array | null {
    const copied =
      this.#number === 0 ? null : readOrNull(join(this.#spool.states, `${this.#number}.tfstate`));
    return copied ?? readOrNull(this.#spool.inputState);
  }

  /** Stores a version unless it is there already. @returns false if the bytes are not a complete state */
  async put(bytes: Uint8Array): Promise<boolean> {
    const hash = sha256(bytes);
    if (hash === this.#latest?.sha256 || hash === this.#initialHash) return true;
    const reading = this.readOrTorn(bytes);
    if (reading === null) return false;
    await this.store(bytes, reading);
    return true;
  }

  /** Stores a version that was read. */
  async store(bytes: Uint8Array, reading: StateReading): Promise<void> {
    const { states } = this.#spool;
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
    this.#latest = { ...reading, sha256: sha256(bytes), isNew: true };
  }

  /** @returns null if the bytes are incomplete */
  readOrTorn(bytes: Uint8Array): StateReading | null {
    try {
      return this.#state.read(bytes);
    } catch (error) {
      if (error instanceof TornState) return null;
      throw error;
    }
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

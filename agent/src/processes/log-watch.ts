/**
 * Notices when a program alters the log that it appends to: its descriptor also lets it shorten, overwrite and
 * extend the file. Each log is read whenever the system reports a change, from time to time, and when a command ends.
 */
import { closeSync, openSync, readSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import { namesIn } from './proc.ts';
import { watchFolders } from './wake.ts';

/** Of a log that is written all the time. */
const lookMilliseconds = 10;
/** Compared at the next look. */
const endBytes = 4096;
/** Smaller logs may lack blocks because they are not on the disk yet. */
const smallestHole = 64 * 1024 * 1024;
const sampledGrowth = 1.25;
const samples = 64;
const sampleBytes = 4096;
/** Of the bytes that were read. */
const mostly = 0.5;

/** A log as it was when it was last read. */
interface LogSnapshot {
  readonly size: number;
  /** When the file was last changed in any way, in milliseconds. */
  readonly changedAt: number;
  /** The last bytes. */
  readonly end: Buffer;
  /** The size when the whole log was last sampled. */
  readonly sampledSize: number;
}

const emptyLog: LogSnapshot = { size: 0, changedAt: 0, end: Buffer.alloc(0), sampledSize: 0 };

/** Problem of a log, such as "shortened its own log". */
export interface LogFinding {
  /** The file's name. */
  readonly name: string;
  readonly text: string;
}

export class LogWatch implements Disposable {
  readonly #folder: string;
  readonly #onFinding: (finding: LogFinding) => void;
  readonly #snapshots = new Map<string, LogSnapshot>();
  readonly #findings = new Map<string, LogFinding>();
  readonly #pauses = new Map<string, NodeJS.Timeout>();
  #watcher: Disposable | null = null;

  /**
   * @param folder of the logs; it may not exist yet
   * @param onFinding called for what is found without a call of `look`
   */
  constructor(folder: string, onFinding: (finding: LogFinding) => void) {
    this.#folder = folder;
    this.#onFinding = onFinding;
  }

  /** Reads what has changed in all logs. @returns the first finding of each log, also those reported before */
  look(): LogFinding[] {
    if (this.#watcher === null && statSync(this.#folder, { throwIfNoEntry: false }) !== undefined)
      this.#watcher = watchFolders([this.#folder], (_, name) => name !== null && this.#lookSoon(name));
    for (const name of namesIn(this.#folder)) this.#lookAt(name);
    return [...this.#findings.values()];
  }

  /** The size of a log when it was last read, in bytes. */
  sizeOf(name: string): number {
    return this.#snapshots.get(name)?.size ?? 0;
  }

  [Symbol.dispose](): void {
    this.#watcher?.[Symbol.dispose]();
    for (const pause of this.#pauses.values()) clearTimeout(pause);
  }

  /** The first change is read immediately, those of the next moments together. */
  #lookSoon(name: string): void {
    if (this.#pauses.has(name)) return;
    const pause = setTimeout(() => {
      this.#pauses.delete(name);
      this.#report(name);
    }, lookMilliseconds);
    this.#pauses.set(name, pause.unref());
    this.#report(name);
  }

  #report(name: string): void {
    this.#lookAt(name);
    const finding = this.#findings.get(name);
    if (finding !== undefined) this.#onFinding(finding);
  }

  #lookAt(name: string): void {
    const path = join(this.#folder, name);
    const status = statSync(path, { throwIfNoEntry: false });
    const before = this.#snapshots.get(name) ?? emptyLog;
    if (!status?.isFile() || (status.size === before.size && status.ctimeMs === before.changedAt)) return;
    using file = openedFile(path);
    const isChanged = !file.read(before.size - before.end.length, before.end.length).equals(before.end);
    // A log that is compressed well stays so: only what has grown is sampled again.
    const isSampled = mayLackBytes(status) && status.size >= before.sampledSize * sampledGrowth;
    const end = Math.min(endBytes, status.size);
    this.#snapshots.set(name, {
      size: status.size,
      changedAt: status.ctimeMs,
      end: file.read(status.size - end, end),
      sampledSize: isSampled ? status.size : before.sampledSize,
    });
    const find = (text: string) => this.#findings.has(name) || this.#findings.set(name, { name, text });
    if (status.size < before.size) find('shortened its own log, which is no longer complete');
    else if (isChanged) find('overwrote its own log, which is no longer complete');
    else if (isSampled && isMostlyEmpty(path, status.size)) find('extended its own log without printing');
  }
}

function openedFile(path: string): Disposable & { read(from: number, bytes: number): Buffer } {
  const descriptor = openSync(path, 'r');
  return {
    read(from, bytes) {
      const buffer = Buffer.alloc(bytes);
      return buffer.subarray(0, readSync(descriptor, buffer, 0, bytes, from));
    },
    [Symbol.dispose]: () => closeSync(descriptor),
  };
}

function mayLackBytes({ size, blocks }: Stats): boolean {
  return size > smallestHole && blocks * 512 < size / 4;
}

/**
 * Whether a file is mostly zero bytes, as where nothing was ever written; printed logs have none. Its blocks alone do not
 * tell: a file system that compresses needs few for any log. It is read in places that a program cannot foresee.
 * @param size of the file
 */
export function isMostlyEmpty(path: string, size: number): boolean {
  let read = 0;
  let zeros = 0;
  using file = openedFile(path);
  for (let index = 0; index < samples; index += 1) {
    const sample = file.read(Math.floor(Math.random() * Math.max(1, size - sampleBytes)), sampleBytes);
    read += sample.length;
    for (const byte of sample) if (byte === 0) zeros += 1;
  }
  return zeros >= read * mostly;
}

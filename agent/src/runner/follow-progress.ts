/** Reads a changing command's output as it grows, and turns it into resource events. */
import { closeSync, openSync, readSync } from 'node:fs';
import type { ProgressEvent, ProgressReader } from '../drivers/driver.ts';
import { sizeOf } from './attempt.ts';

const pollMilliseconds = 100;
const chunkBytes = 256 * 1024;

export class ProgressFollower implements Disposable {
  readonly #path: string;
  readonly #reader: ProgressReader;
  readonly #emit: (event: ProgressEvent) => void;
  readonly #seen = new Map<string, ProgressEvent>();
  readonly #timer: NodeJS.Timeout;
  #offset: number;

  /** @param offset where the command's own output begins, in bytes */
  constructor(path: string, offset: number, reader: ProgressReader, emit: (event: ProgressEvent) => void) {
    this.#path = path;
    this.#offset = offset;
    this.#reader = reader;
    this.#emit = emit;
    this.#timer = setInterval(() => this.read(), pollMilliseconds);
  }

  /** The last event of each resource so far. */
  get seen(): readonly ProgressEvent[] {
    return [...this.#seen.values()];
  }

  /** Whether the tool said that it changed anything. */
  get hasChanged(): boolean {
    return this.seen.some(({ status, action }) => status === 'done' && action !== 'read');
  }

  /** Reads what has been appended since. */
  read(): void {
    if (sizeOf(this.#path) <= this.#offset) return;
    const descriptor = openSync(this.#path, 'r');
    const chunk = Buffer.allocUnsafe(chunkBytes);
    try {
      for (let count = 1; count > 0; ) {
        count = readSync(descriptor, chunk, 0, chunkBytes, this.#offset);
        this.#offset += count;
        for (const event of this.#reader.read(chunk.subarray(0, count))) this.#take(event);
      }
    } finally {
      closeSync(descriptor);
    }
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #take(event: ProgressEvent): void {
    this.#seen.set(event.address, event);
    this.#emit(event);
  }
}

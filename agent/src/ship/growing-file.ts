/** Reads a file of the spool folder that another process appends to. */
import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';

/** Shared by all files: nothing else runs between a read and the copy of its bytes. */
const chunk = Buffer.allocUnsafeSlow(256 * 1024);

/** A file that may not exist yet. It is local and read in pieces, which takes less time than a thread's answer. */
export class GrowingFile implements Disposable {
  readonly #path: string;
  #descriptor: number | null = null;

  constructor(path: string) {
    this.#path = path;
  }

  /** In bytes; 0 if the file does not exist. */
  size(): number {
    const descriptor = this.#open();
    return descriptor === null ? 0 : fstatSync(descriptor).size;
  }

  /** @returns at most that many of the bytes after an offset; none at the file's end */
  read(offset: number, most: number): Buffer {
    const descriptor = most > 0 ? this.#open() : null;
    if (descriptor === null) return Buffer.alloc(0);
    return Buffer.from(
      chunk.subarray(0, readSync(descriptor, chunk, 0, Math.min(most, chunk.length), offset)),
    );
  }

  #open(): number | null {
    if (this.#descriptor !== null) return this.#descriptor;
    if (statSync(this.#path, { throwIfNoEntry: false }) === undefined) return null;
    return (this.#descriptor = openSync(this.#path, 'r'));
  }

  [Symbol.dispose](): void {
    if (this.#descriptor !== null) closeSync(this.#descriptor);
    this.#descriptor = null;
  }
}

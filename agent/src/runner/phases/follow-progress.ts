/** Reads what a changing command says of its progress as it grows, and turns it into resource events. */
import { open } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { ProgressEvent, ProgressReader } from '../../drivers/driver.ts';
import { sizeOf } from '../../attempt/run-command.ts';
import type { TreeClient } from '../tree/tree-client.ts';

const pollMilliseconds = 100;
const chunkBytes = 256 * 1024;

/** @returns the next bytes from an offset on, empty where there are none yet */
export type ProgressSource = (offset: number) => Promise<Uint8Array>;

/** A file of the spool, which nobody but the agent's user can have put there. */
export function spoolSource(path: string): ProgressSource {
  return async (offset) => {
    if (sizeOf(path) <= offset) return new Uint8Array();
    await using file = await open(path, 'r');
    const { buffer, bytesRead } = await file.read({
      buffer: Buffer.allocUnsafe(chunkBytes),
      position: offset,
    });
    return buffer.subarray(0, bytesRead);
  };
}

/** A file that the tool itself writes into the work folder, read with the tool's own rights. */
export function treeSource(tree: TreeClient, path: string): ProgressSource {
  return async (offset) =>
    (await tree.piece(dirname(path), basename(path), offset, chunkBytes)) ?? new Uint8Array();
}

export class ProgressFollower implements AsyncDisposable {
  readonly #source: ProgressSource;
  readonly #reader: ProgressReader;
  readonly #emit: (event: ProgressEvent) => void;
  readonly #seen = new Map<string, ProgressEvent>();
  readonly #stopping = new AbortController();
  #loop: Promise<void> | null = null;
  #offset: number;

  /** @param offset where the command's own output begins, in bytes */
  constructor(
    source: ProgressSource,
    offset: number,
    reader: ProgressReader,
    emit: (event: ProgressEvent) => void,
  ) {
    this.#source = source;
    this.#offset = offset;
    this.#reader = reader;
    this.#emit = emit;
  }

  /** The last event of each resource so far. */
  get seen(): readonly ProgressEvent[] {
    return [...this.#seen.values()];
  }

  /** Whether the tool said that it changed anything. */
  get hasChanged(): boolean {
    return this.seen.some(({ status, action }) => status === 'done' && action !== 'read');
  }

  /** Begins to follow in the background. */
  start(): void {
    this.#loop ??= this.#follow();
  }

  /** Ends the following, once the command has ended, and reads what is left. */
  async takeLast(): Promise<void> {
    await this[Symbol.asyncDispose]();
    await this.#read();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    await this.#loop;
  }

  async #follow(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      // A failure to read now is met again, and reported, when the last of it is taken.
      await this.#read().catch(() => undefined);
      await delay(pollMilliseconds, undefined, { signal }).catch(() => undefined);
    }
  }

  async #read(): Promise<void> {
    for (;;) {
      const bytes = await this.#source(this.#offset);
      if (bytes.length === 0) return;
      this.#offset += bytes.length;
      for (const event of this.#reader.read(bytes)) this.#take(event);
    }
  }

  #take(event: ProgressEvent): void {
    this.#seen.set(event.address, event);
    this.#emit(event);
  }
}

/** Follows the progress that a changing command reports, and converts it to resource events. */
import { open } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { sizeOf } from '../../attempt/run-command.ts';
import type { ProgressEvent, ProgressReader } from '../../drivers/interface/driver.ts';
import { LatestEvents, resourceLimits } from '../../spool/resource-events.ts';
import type { TreeClient } from '../tree/tree-client.ts';

const pollMilliseconds = 100;
const chunkBytes = 256 * 1024;

/** @returns the next bytes after an offset; empty if there are none yet */
export type ProgressSource = (offset: number) => Promise<Uint8Array>;

/** Reads from a file in the spool, which only the agent's user can write. */
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

/** Reads from a file that the tool writes into the work folder, with the tool's own rights. */
export function treeSource(tree: TreeClient, path: string): ProgressSource {
  return async (offset) =>
    (await tree.piece(dirname(path), basename(path), offset, chunkBytes)) ?? new Uint8Array();
}

export class ProgressFollower implements AsyncDisposable {
  readonly #source: ProgressSource;
  readonly #reader: ProgressReader;
  readonly #emit: (event: ProgressEvent) => void;
  readonly #seen = new LatestEvents();
  readonly #stopping = new AbortController();
  #loop: Promise<void> | null = null;
  #offset: number;
  readonly #end: number;

  /** @param offset where the command's own output begins, in bytes */
  constructor(
    source: ProgressSource,
    offset: number,
    reader: ProgressReader,
    emit: (event: ProgressEvent) => void,
  ) {
    this.#source = source;
    this.#offset = offset;
    this.#end = offset + resourceLimits.sourceBytes;
    this.#reader = reader;
    this.#emit = emit;
  }

  /** The last event of each resource so far, up to a limit. */
  get seen(): readonly ProgressEvent[] {
    return this.#seen.all;
  }

  /** Whether the tool reported a change of a resource whose address counts. */
  hasChanged(counts: (address: string) => boolean): boolean {
    return this.seen.some(
      ({ status, action, address }) => status === 'done' && action !== 'read' && counts(address),
    );
  }

  /** Starts following in the background. */
  start(): void {
    this.#loop ??= this.#follow();
  }

  /** Stops following and reads the rest, once the command and all that it has left have ended. */
  async readRest(): Promise<void> {
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
      // A read error recurs, and is reported, when the rest is read.
      await this.#read().catch(() => undefined);
      await delay(pollMilliseconds, undefined, { signal }).catch(() => undefined);
    }
  }

  async #read(): Promise<void> {
    while (this.#offset < this.#end) {
      const bytes = await this.#source(this.#offset);
      if (bytes.length === 0) return;
      this.#offset += bytes.length;
      for (const event of this.#reader.read(bytes)) this.#record(event);
    }
  }

  #record(event: ProgressEvent): void {
    this.#seen.add(event);
    this.#emit(event);
  }
}

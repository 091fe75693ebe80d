/** Reads the events that a runner appends to its spool folder, line by line. */
import { type FileHandle, open } from 'node:fs/promises';
import type { RunEvent } from '#protocol/messages/report.ts';
import { nullIfMissing } from '../spool/read-attempt.ts';

const chunkBytes = 256 * 1024;

/**
 * The events of one attempt that the server does not have yet. An incomplete last line is ignored and read
 * again once it is complete. A line that is not an event is skipped: a full disk truncated it, and the next
 * one was appended to it.
 */
export class EventFile implements AsyncDisposable {
  readonly #file: string;
  readonly #mask: (event: RunEvent) => RunEvent;
  #handle: FileHandle | null = null;
  #offset = 0;
  #rest: Buffer = Buffer.alloc(0);
  #firstIndex = 0;
  #pending: RunEvent[] = [];

  /** @param mask applied to each event before it is returned */
  constructor(file: string, mask: (event: RunEvent) => RunEvent) {
    this.#file = file;
    this.#mask = mask;
  }

  /** Index in the file of the first pending event. */
  get firstIndex(): number {
    return this.#firstIndex;
  }

  get pending(): readonly RunEvent[] {
    return this.#pending;
  }

  /** Reads newly appended events; true if there were any. */
  async read(): Promise<boolean> {
    this.#handle ??= await open(this.#file, 'r').catch(nullIfMissing);
    if (!this.#handle) return false;
    const before = this.#pending.length;
    const chunk = Buffer.allocUnsafe(chunkBytes);
    for (;;) {
      const { bytesRead } = await this.#handle.read(chunk, 0, chunkBytes, this.#offset);
      if (bytesRead === 0) return this.#pending.length > before;
      this.#offset += bytesRead;
      this.#takeLines(chunk.subarray(0, bytesRead));
    }
  }

  /** Continues from the event that the server expects next, also backwards. */
  async goTo(index: number): Promise<void> {
    if (index < this.#firstIndex) {
      this.#offset = 0;
      this.#rest = Buffer.alloc(0);
      this.#firstIndex = 0;
      this.#pending = [];
      await this.read();
    }
    const known = Math.min(index - this.#firstIndex, this.#pending.length);
    this.#pending.splice(0, known);
    this.#firstIndex += known;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle?.close();
    this.#handle = null;
  }

  #takeLines(bytes: Buffer): void {
    let text = Buffer.concat([this.#rest, bytes]);
    for (let end = text.indexOf(10); end >= 0; end = text.indexOf(10)) {
      const event = readEvent(text.toString('utf8', 0, end));
      if (event) this.#pending.push(this.#mask(event));
      text = text.subarray(end + 1);
    }
    this.#rest = Buffer.from(text);
  }
}

function readEvent(line: string): RunEvent | null {
  try {
    return JSON.parse(line) as RunEvent;
  } catch {
    return null;
  }
}

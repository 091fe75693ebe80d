/** Reads the events that a runner appends to its spool folder, line by line. */
import type { RunEvent } from '#protocol/messages/report.ts';
import { GrowingFile } from './growing-file.ts';

/**
 * The events of one attempt that the server does not have yet. An incomplete last line is ignored and read
 * again once it is complete. A line that is not an event is skipped: a full disk truncated it, and the next
 * one was appended to it.
 */
export class EventFile implements Disposable {
  readonly #file: GrowingFile;
  readonly #mask: (event: RunEvent) => RunEvent;
  #offset = 0;
  #rest: Buffer = Buffer.alloc(0);
  #firstIndex = 0;
  #pending: RunEvent[] = [];

  /** @param mask applied to each event before it is returned */
  constructor(file: string, mask: (event: RunEvent) => RunEvent) {
    this.#file = new GrowingFile(file);
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
  read(): boolean {
    const before = this.#pending.length;
    for (;;) {
      const bytes = this.#file.read(this.#offset, Infinity);
      if (bytes.length === 0) return this.#pending.length > before;
      this.#offset += bytes.length;
      this.#takeLines(bytes);
    }
  }

  /** Continues from the event that the server expects next, also backwards. */
  goTo(index: number): void {
    if (index < this.#firstIndex) {
      this.#offset = 0;
      this.#rest = Buffer.alloc(0);
      this.#firstIndex = 0;
      this.#pending = [];
      this.read();
    }
    const known = Math.min(index - this.#firstIndex, this.#pending.length);
    this.#pending.splice(0, known);
    this.#firstIndex += known;
  }

  [Symbol.dispose](): void {
    this.#file[Symbol.dispose]();
  }

  #takeLines(bytes: Buffer): void {
    let text = Buffer.concat([this.#rest, bytes]);
    for (let end = text.indexOf(10); end >= 0; end = text.indexOf(10)) {
      const event = readEvent(text.toString('utf8', 0, end));
      if (event) this.#pending.push(this.#mask(event));
      text = text.subarray(end + 1);
    }
    this.#rest = text;
  }
}

function readEvent(line: string): RunEvent | null {
  try {
    return JSON.parse(line) as RunEvent;
  } catch {
    return null;
  }
}

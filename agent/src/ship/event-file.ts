/** Reads the events that a runner appends to its spool folder, line by line. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { RunEvent } from '#protocol/messages/report.ts';
import { lineSplitter } from '../drivers/interface/lines.ts';
import { GrowingFile } from './growing-file.ts';

/** Further events are read once the server has these: they are more than several reports hold. */
const mostPending = 10_000;
/** Amount that is read before others have their turn. */
const turnBytes = 1024 * 1024;
/** No event is longer. */
const longestLineBytes = 4 * 1024 * 1024;

/**
 * The events of one attempt that the server does not have yet. An incomplete last line is ignored and read
 * again once it is complete. A line that is not an event is skipped: a full disk truncated it, and the next
 * one was appended to it.
 */
export class EventFile implements Disposable {
  readonly #file: GrowingFile;
  readonly #mask: (event: RunEvent) => RunEvent;
  #offset = 0;
  #split = this.#splitter();
  #firstIndex = 0;
  /** Index of the first event that is wanted; those before it are not kept. */
  #wantedFrom = 0;
  #pending: RunEvent[] = [];
  #isRead = false;

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

  /** Whether the last look has reached the end of the file. */
  get isRead(): boolean {
    return this.#isRead;
  }

  /** Reads what was appended, up to a limit in bytes and in pending events; true if there were new events. */
  read(): boolean {
    const before = this.#pending.length;
    const end = this.#offset + turnBytes;
    this.#isRead = false;
    while (this.#offset < end && !this.#isFull()) {
      const bytes = this.#file.read(this.#offset, Infinity);
      if (bytes.length === 0) {
        this.#isRead = true;
        break;
      }
      this.#offset += bytes.length;
      this.#split(bytes);
    }
    return this.#pending.length > before;
  }

  /** Reads to the end of the file, or until enough events are pending, and lets others have their turn in between. */
  async fill(): Promise<void> {
    for (this.read(); !this.#isRead && !this.#isFull(); this.read()) await nextTurn();
  }

  /** Continues from the event that the server expects next, also backwards. */
  goTo(index: number): void {
    const isBack = index < this.#firstIndex;
    if (isBack) {
      this.#offset = 0;
      this.#split = this.#splitter();
      this.#firstIndex = 0;
      this.#pending = [];
    }
    this.#wantedFrom = index;
    const known = Math.min(index - this.#firstIndex, this.#pending.length);
    this.#pending.splice(0, known);
    this.#firstIndex += known;
    if (isBack) this.read();
  }

  [Symbol.dispose](): void {
    this.#file[Symbol.dispose]();
  }

  #isFull(): boolean {
    return this.#pending.length >= mostPending;
  }

  #splitter(): (bytes: Uint8Array) => void {
    return lineSplitter(longestLineBytes, (line) => {
      const event = readEvent(line);
      if (event === null) return;
      if (this.#firstIndex < this.#wantedFrom && this.#pending.length === 0) this.#firstIndex += 1;
      else this.#pending.push(this.#mask(event));
    });
  }
}

function readEvent(line: string): RunEvent | null {
  try {
    return JSON.parse(line) as RunEvent;
  } catch {
    return null;
  }
}

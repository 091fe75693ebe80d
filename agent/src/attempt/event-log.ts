/** The attempt's events, as the runner writes them and the agent reads them. */
import { closeSync, openSync, writeSync } from 'node:fs';
import type { RunEvent } from '#protocol/messages/report.ts';
import { isFullDisk, whenThereIsSpace } from '../processes/full-disk.ts';

// An event without its time, which is added here.
type Untimed<Event> = Event extends unknown ? Omit<Event, 'at'> : never;

/** The attempt's event file: append-only, one line per event; durable with the outcome. */
export class EventLog implements Disposable {
  readonly #descriptor: number;
  #warnings = 0;
  #unwritten: Buffer = Buffer.alloc(0);

  constructor(path: string) {
    this.#descriptor = openSync(path, 'a', 0o600);
  }

  /** The number of warnings so far. */
  get warnings(): number {
    return this.#warnings;
  }

  /** On a full disk, the event waits for the next one, or for `settle`. */
  append(event: Untimed<RunEvent>): void {
    if (event.kind === 'warning') this.#warnings += 1;
    const line = `${JSON.stringify({ ...event, at: new Date().toISOString() })}\n`;
    this.#unwritten = Buffer.concat([this.#unwritten, Buffer.from(line)]);
    try {
      this.#write();
    } catch (error) {
      if (!isFullDisk(error)) throw error;
    }
  }

  /** Waits until all events are written. */
  async settle(): Promise<void> {
    await whenThereIsSpace(() => this.#write());
  }

  [Symbol.dispose](): void {
    closeSync(this.#descriptor);
  }

  // A nearly full disk takes a part of a line.
  #write(): void {
    while (this.#unwritten.length > 0)
      this.#unwritten = this.#unwritten.subarray(writeSync(this.#descriptor, this.#unwritten));
  }
}

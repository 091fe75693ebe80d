/** The attempt's events, as the runner writes them and the agent reads them. */
import { closeSync, openSync, writeSync } from 'node:fs';
import type { RunEvent } from '#protocol/messages/report.ts';

// An event without its time, which is added here.
type Untimed<Event> = Event extends unknown ? Omit<Event, 'at'> : never;

/** The attempt's event file: append-only, one line per event; durable with the outcome. */
export class EventLog implements Disposable {
  readonly #descriptor: number;
  #warnings = 0;

  constructor(path: string) {
    this.#descriptor = openSync(path, 'a', 0o600);
  }

  /** The number of warnings so far. */
  get warnings(): number {
    return this.#warnings;
  }

  append(event: Untimed<RunEvent>): void {
    if (event.kind === 'warning') this.#warnings += 1;
    writeSync(this.#descriptor, `${JSON.stringify({ ...event, at: new Date().toISOString() })}\n`);
  }

  [Symbol.dispose](): void {
    closeSync(this.#descriptor);
  }
}

/** The attempt's events, as the runner writes them and the agent reads them. */
import { closeSync, openSync, writeSync } from 'node:fs';
import type { StepStatus } from '#contract/schema/enumerations.ts';
import type { RunEvent } from '#protocol/messages/report.ts';
import { isFullDisk, whenThereIsSpace } from '../processes/full-disk.ts';
import { resourceLimits } from '../spool/resource-events.ts';

type RunResourceEvent = Extract<RunEvent, { kind: 'resource' }>;

// An event without its time, which is added here.
type Untimed<Event> = Event extends unknown ? Omit<Event, 'at'> : never;

const failedStatuses: readonly StepStatus[] = ['FAIL', 'TIMEOUT', 'CANCELLED'];

/** The attempt's event file: append-only, one line per event; durable with the outcome. */
export class EventLog implements Disposable {
  readonly #descriptor: number;
  #warnings = 0;
  #hasFailedStep = false;
  #resourceEvents = 0;
  #resourceBytes = 0;
  #isFull = false;
  #unwritten: Buffer = Buffer.alloc(0);

  constructor(path: string) {
    this.#descriptor = openSync(path, 'a', 0o600);
  }

  /** The number of warnings so far. */
  get warnings(): number {
    return this.#warnings;
  }

  /** Whether a step has not succeeded. */
  get hasFailedStep(): boolean {
    return this.#hasFailedStep;
  }

  /**
   * Adds an event of a resource, of which a run can report any number.
   * @returns whether it is the first that is left out because there are too many
   */
  appendResource(event: Untimed<RunResourceEvent>): boolean {
    const isOver =
      this.#resourceEvents >= resourceLimits.events || this.#resourceBytes >= resourceLimits.bytes;
    if (!isOver) this.#resourceBytes += this.append(event);
    this.#resourceEvents += 1;
    const isFirst = isOver && !this.#isFull;
    this.#isFull ||= isOver;
    return isFirst;
  }

  /**
   * On a full disk, the event waits for the next one, or for `flush`.
   * @returns its size in bytes
   */
  append(event: Untimed<RunEvent>): number {
    if (event.kind === 'warning') this.#warnings += 1;
    if (event.kind === 'step') this.#hasFailedStep ||= failedStatuses.includes(event.status);
    const line = `${JSON.stringify({ ...event, at: new Date().toISOString() })}\n`;
    this.#unwritten = Buffer.concat([this.#unwritten, Buffer.from(line)]);
    try {
      this.#write();
    } catch (error) {
      if (!isFullDisk(error)) throw error;
    }
    return line.length;
  }

  /** Waits until all events are written. */
  async flush(): Promise<void> {
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

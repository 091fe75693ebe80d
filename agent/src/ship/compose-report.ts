/** The contents of the next report: pure, so that the rules of order can be tested on their own. */
import type { StepStatus } from '#contract/schema/enumerations.ts';
import type { ReportRequest, RunEvent } from '#protocol/messages/report.ts';

/** The part of a step's log that can be sent right now. */
export interface OfferedLog {
  readonly step: string;
  /** Offset in the masked log of the first byte of `pending`. */
  readonly offset: number;
  readonly pending: Buffer;
  /** Whether nothing follows `pending`: the step has ended and its log is read to the end. */
  readonly isWhole: boolean;
}

export interface Offer {
  readonly eventsFrom: number;
  readonly events: readonly RunEvent[];
  readonly logs: readonly OfferedLog[];
}

export interface ComposedReport {
  readonly report: Omit<ReportRequest, 'fence'>;
  readonly isEmpty: boolean;
  /** Whether there is more to send than fits. */
  readonly isFull: boolean;
  /** Whether it contains all that is offered, and nothing follows. */
  readonly isLast: boolean;
}

/** A report's JSON stays below this; a single larger event is sent alone. */
const reportBytes = 512 * 1024;
const bytesBesideContent = 1024;

/** Statuses after which a step reports nothing more. */
const endedStatuses: readonly StepStatus[] = [
  'TIMEOUT',
  'FAIL',
  'SUCCESS',
  'CANCELLED',
  'SKIPPED',
  'WARNING',
];

export function endsStep(event: RunEvent): event is Extract<RunEvent, { kind: 'step' }> {
  return event.kind === 'step' && endedStatuses.includes(event.status);
}

/**
 * Fills one report. The end of a step is sent only together with, or after, the last byte of its log, so that
 * the log of an ended step is complete.
 */
export function composeReport(offer: Offer, limitBytes: number = reportBytes): ComposedReport {
  const sheet = new Sheet(limitBytes - bytesBesideContent);
  const logs = new Map(offer.logs.map((log) => [log.step, log]));
  const events: RunEvent[] = [];
  for (const event of offer.events) {
    const log = endsStep(event) ? logs.get(event.step) : undefined;
    if (log && !(sheet.addLog(log) && log.isWhole)) break;
    if (!sheet.addEvent(event) && events.length > 0) break;
    events.push(event);
  }
  const ended = offer.logs.filter((log) => sheet.addLog(log) && log.isWhole);
  const parts = sheet.logs();
  return {
    report: { eventsFrom: offer.eventsFrom, events, logs: parts },
    isEmpty: events.length === 0 && parts.length === 0,
    isFull: sheet.isFull,
    isLast: events.length === offer.events.length && ended.length === offer.logs.length,
  };
}

/** Counts what fits; base64 makes four characters of three bytes. */
class Sheet {
  #left: number;
  readonly #taken = new Map<string, { log: OfferedLog; bytes: number }>();

  constructor(limitBytes: number) {
    this.#left = limitBytes;
  }

  get isFull(): boolean {
    return this.#left < 4;
  }

  /** Adds as much of the log as fits; true if all of it did. */
  addLog(log: OfferedLog): boolean {
    const before = this.#taken.get(log.step)?.bytes ?? 0;
    const bytes = Math.min(log.pending.length - before, Math.max(0, Math.floor(this.#left / 4) * 3));
    this.#left -= Math.ceil(bytes / 3) * 4;
    if (bytes > 0) this.#taken.set(log.step, { log, bytes: before + bytes });
    return before + bytes === log.pending.length;
  }

  addEvent(event: RunEvent): boolean {
    this.#left -= Buffer.byteLength(JSON.stringify(event)) + 1;
    return this.#left >= 0;
  }

  logs(): ReportRequest['logs'] {
    return [...this.#taken.values()].map(({ log, bytes }) => ({
      step: log.step,
      offset: log.offset,
      base64: log.pending.toString('base64', 0, bytes),
    }));
  }
}

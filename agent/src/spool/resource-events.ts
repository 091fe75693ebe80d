/** Limit of a run's reports about its resources: code of the run can report anything, without an end. */
import type { ProgressEvent, ProgressReader } from '../drivers/interface/driver.ts';
import { cutMasked, type Secrets } from '../logs/mask.ts';

export const resourceLimits = {
  /** Events of one attempt, and resources in the last of them. */
  events: 100_000,
  /** Of these events in the spool. */
  bytes: 64 * 1024 * 1024,
  /** Of each text in an event. */
  characters: 2000,
  /** Of the output of one command that is searched for events. */
  sourceBytes: 2 ** 30,
} as const;

const texts = ['address', 'provider', 'type', 'name', 'moduleName', 'id'] as const;

function shortened(event: ProgressEvent, secrets: Secrets): ProgressEvent {
  const isLong = texts.some((field) => (event[field]?.length ?? 0) > resourceLimits.characters);
  if (!isLong) return event;
  const short: Record<string, string> = {};
  for (const field of texts) {
    const text = event[field];
    if (text !== undefined) short[field] = cutMasked(text, resourceLimits.characters, secrets);
  }
  return { ...event, ...short };
}

/** A reader whose events have no long texts. @param secrets masked in what is cut */
export function withShortTexts(reader: ProgressReader, secrets: Secrets): ProgressReader {
  return { read: (bytes) => reader.read(bytes).map((event) => shortened(event, secrets)) };
}

/** The last event of each resource; new resources beyond the limit are left out. */
export class LatestEvents {
  readonly #events = new Map<string, ProgressEvent>();

  add(event: ProgressEvent): void {
    if (this.#events.size < resourceLimits.events || this.#events.has(event.address))
      this.#events.set(event.address, event);
  }

  get all(): readonly ProgressEvent[] {
    return [...this.#events.values()];
  }
}

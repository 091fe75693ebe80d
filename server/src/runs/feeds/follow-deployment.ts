/**
 * Follows the events and logs of one deployment for a reader. The cursor says what the reader has: the number of the last event and the byte after the last of each step's log. A reader that comes back with it
 * gets what came after, nothing twice and nothing left out.
 */

import { logBytesEvents } from '#contract/client/log-bytes.ts';
import type { Step } from '#contract/deployments/shapes.ts';
import { streamEventNames } from '#contract/feeds/shapes.ts';
import type { Context } from '../../framework/context.ts';
import {
  deploymentChannel,
  endEventNumber,
  readStreamNews,
  type StreamNews,
} from '../../rows/feeds/event-store.ts';
import { type LogSlice, readLog } from '../../rows/logs/step-store.ts';

/** Position of a reader of a deployment. */
export interface DeploymentCursor {
  event: number;
  /** Next byte of each step's log, by step name. */
  readonly logs: Record<string, number>;
}

/** @returns undefined for anything that is not the text form of a cursor, parsed */
export function readCursor(value: unknown): DeploymentCursor | undefined {
  if (!Array.isArray(value) || typeof value[1] !== 'object' || value[1] === null) return undefined;
  const [event, logs] = value as [number, Record<string, number>];
  const isPosition = (position: number) => Number.isSafeInteger(position) && position >= 0;
  return [event, ...Object.values(logs)].every(isPosition) ? { event, logs: { ...logs } } : undefined;
}

/** Receiver of the events. */
export interface Sink {
  /** False: no bytes of logs are sent; the cursor stays at their beginning. */
  readonly withLog: boolean;
  /** Writes an event with the position of the reader after it; waits while the reader is slower than we are. */
  send(event: string, data: unknown): Promise<void>;
  /** @throws Refusal once the reader's key or right is gone */
  check(): Promise<void>;
  /** After a time without anything. */
  stayAlive(): void;
  isGone(): boolean;
}

type StreamedStep = StreamNews['steps'][number];

const sliceBytes = 256 * 1024;
const eventsAtOnce = 500;
/** Bytes that arrived within this time are sent together. */
const togetherMilliseconds = 1000;
/** A comment keeps proxies from closing a quiet stream; the same pause is the floor of looking for news. */
export const quietMilliseconds = 15_000;

/** Slices that arrived at about the same time, as one. */
function together(slices: readonly LogSlice[]): { bytes: Buffer; at: Date }[] {
  const groups: { parts: Buffer[]; at: Date }[] = [];
  for (const { bytes, storedAt } of slices) {
    const last = groups.at(-1);
    const distance = storedAt.getTime() - (last?.at.getTime() ?? 0);
    if (last && distance >= 0 && distance < togetherMilliseconds) last.parts.push(bytes);
    else groups.push({ parts: [bytes], at: storedAt });
  }
  return groups.map(({ parts, at }) => ({ bytes: Buffer.concat(parts), at }));
}

export class DeploymentFollower {
  readonly #context: Context;
  readonly #deploymentId: string;
  readonly #cursor: DeploymentCursor;
  readonly #sink: Sink;

  /** @param cursor what the reader has: changes right before an event is sent that leads further */
  constructor(context: Context, deploymentId: string, cursor: DeploymentCursor, sink: Sink) {
    this.#context = context;
    this.#deploymentId = deploymentId;
    this.#cursor = cursor;
    this.#sink = sink;
  }

  /** @param advance moves the cursor; nothing else can be sent between that and the event */
  async #send(event: string, data: unknown, advance: () => void): Promise<void> {
    await this.#sink.check();
    advance();
    await this.#sink.send(event, data);
  }

  /** @returns how many bytes were sent: fewer than there are where a character is not complete yet */
  async #sendSlices(
    step: string,
    from: number,
    slices: readonly LogSlice[],
    isFinal: boolean,
  ): Promise<number> {
    const groups = together(slices);
    let offset = from;
    let rest: Buffer = Buffer.alloc(0);
    for (const [index, { bytes: own, at }] of groups.entries()) {
      const bytes = rest.length === 0 ? own : Buffer.concat([rest, own]);
      const isLast = index === groups.length - 1;
      const { events, consumed } = logBytesEvents({ step, offset, bytes, isFinal: isFinal && isLast });
      for (const event of events)
        await this.#send('log', { ...event, at: at.toISOString() }, () => {
          this.#cursor.logs[step] = event.offset + event.bytes;
        });
      offset += consumed;
      rest = bytes.subarray(consumed);
    }
    return offset - from;
  }

  /** @param isOver the log grows no more */
  async #sendLog(step: StreamedStep, isOver: boolean): Promise<void> {
    if (!this.#sink.withLog) return;
    for (let from = this.#cursor.logs[step.name] ?? 0; from < step.log_bytes && !this.#sink.isGone(); ) {
      const slices = await readLog(this.#context.db, step.id, from, sliceBytes);
      const length = slices.reduce((sum, { bytes }) => sum + bytes.length, 0);
      const isFinal = isOver && from + length >= step.log_bytes;
      const sent = await this.#sendSlices(step.name, from, slices, isFinal);
      if (sent === 0) break;
      from += sent;
    }
  }

  /** @param isOver the deployment has ended, and its logs grow no more */
  async #sendLogs(steps: readonly StreamedStep[], isOver: boolean): Promise<void> {
    for (const step of steps) await this.#sendLog(step, isOver);
  }

  /**
   * Events before another one: all of the log that it ends. The event was stored with or after the last
   * bytes of that log, so steps that were read in the same statement know them.
   */
  async #sendLogsBefore(name: string, data: unknown, steps: readonly StreamedStep[]): Promise<void> {
    if (name === 'end') return this.#sendLogs(steps, true);
    const { name: ended, completedAt } = data as Partial<Step>;
    if (name !== 'step' || ended === undefined || completedAt === undefined) return;
    const step = steps.find((each) => each.name === ended);
    if (step) await this.#sendLog(step, true);
  }

  /** Sends events and logs that the reader does not have. @returns whether the last event was sent */
  async #sendNews(): Promise<boolean> {
    for (;;) {
      const limits = { names: streamEventNames, limit: eventsAtOnce };
      const news = await readStreamNews(this.#context.db, this.#deploymentId, this.#cursor.event, limits);
      for (const row of news.events) {
        await this.#sendLogsBefore(row.name, row.data, news.steps);
        await this.#send(row.name, row.data, () => {
          this.#cursor.event = row.number;
        });
        if (row.name === 'end') return true;
      }
      if (news.events.length < eventsAtOnce || this.#sink.isGone()) {
        await this.#sendLogs(news.steps, false);
        return false;
      }
    }
  }

  /** Whether the reader has everything already, to the last event. */
  async hasEnd(): Promise<boolean> {
    const end = await endEventNumber(this.#context.db, this.#deploymentId);
    return end !== undefined && this.#cursor.event >= end;
  }

  /** Until the deployment has ended or the reader has gone. @throws Refusal as the sink does */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      // Subscribed before looking, so that nothing in between is missed.
      const woken = this.#context.events.waitFor(deploymentChannel(this.#deploymentId), {
        signal,
        milliseconds: quietMilliseconds,
      });
      if (await this.#sendNews()) return;
      await woken;
      await this.#sink.check();
      if (!signal.aborted) this.#sink.stayAlive();
    }
  }
}

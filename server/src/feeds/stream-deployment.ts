/**
 * The event stream of one deployment. Its cursor says what a reader has: the number of the last event and the
 * byte after the last of each step's log. A reader that comes back with it gets what came after, nothing
 * twice and nothing left out.
 */
import type { ServerResponse } from 'node:http';
import type { Step } from '#contract/deployments/shapes.ts';
import { streamEventNames } from '#contract/feeds/shapes.ts';
import { logBytesEvents } from '#contract/client/log-bytes.ts';
import type { ActorContext, Context } from '../context.ts';
import { badField, notFound, Refusal } from '../http/errors.ts';
import type { Wire } from '../http/route.ts';
import { openEventStream } from './open-event-stream.ts';
import { getDeploymentPlace } from '../deployments/deployment-store.ts';
import { endEventNumber, readStreamNews, type StreamNews } from './event-store.ts';
import { deploymentChannel } from './record-event.ts';
import { readLog } from '../logs/step-store.ts';

interface Cursor {
  event: number;
  /** Next byte of each step's log, by step name. */
  readonly logs: Record<string, number>;
}

const sliceBytes = 256 * 1024;
const eventsAtOnce = 500;
/** A comment keeps proxies from closing a quiet stream; the same pause is the floor of looking for news. */
const quietMilliseconds = 15_000;

export function encodeCursor(cursor: Cursor): string {
  return Buffer.from(JSON.stringify([cursor.event, cursor.logs])).toString('base64url');
}

/** @throws Refusal 400 for a cursor that no stream has given */
export function decodeCursor(text: string | undefined): Cursor {
  if (!text) return { event: 0, logs: {} };
  try {
    const [event, logs] = JSON.parse(Buffer.from(text, 'base64url').toString('utf8')) as [
      number,
      Record<string, number>,
    ];
    if ([event, ...Object.values(logs)].every((position) => Number.isSafeInteger(position) && position >= 0))
      return { event, logs: { ...logs } };
  } catch {
    // Falls through to the refusal below.
  }
  throw badField('headers.last-event-id', 'must be the id of an event of this stream');
}

type StreamedStep = StreamNews['steps'][number];

class Stream {
  readonly #context: Context;
  readonly #deploymentId: string;
  readonly #response: ServerResponse;
  readonly #cursor: Cursor;
  readonly #askAgain: Wire['askAgain'];
  #checkedAt: number;

  constructor(
    context: Context,
    deploymentId: string,
    { response, askAgain }: { readonly response: ServerResponse; readonly askAgain: Wire['askAgain'] },
    cursor: Cursor,
  ) {
    this.#context = context;
    this.#deploymentId = deploymentId;
    this.#response = response;
    this.#askAgain = askAgain;
    this.#cursor = cursor;
    this.#checkedAt = context.now().getTime();
  }

  /** @throws Refusal once the reader's key or right is gone */
  async #check(): Promise<void> {
    const now = this.#context.now().getTime();
    if (now - this.#checkedAt < quietMilliseconds) return;
    await this.#askAgain();
    this.#checkedAt = now;
  }

  /** Waits while the reader is slower than we are, so that a slow reader costs no memory. */
  async #send(event: string, data: unknown): Promise<void> {
    await this.#check();
    const chunk = `id: ${encodeCursor(this.#cursor)}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
    if (this.#response.write(chunk) || this.#response.destroyed) return;
    await new Promise<void>((resolve) => {
      const done = () => {
        this.#response.off('drain', done).off('close', done);
        resolve();
      };
      this.#response.on('drain', done).on('close', done);
    });
  }

  /** @param isOver the log grows no more */
  async #sendLog(step: StreamedStep, isOver: boolean): Promise<void> {
    for (let from = this.#cursor.logs[step.name] ?? 0; from < step.log_bytes && !this.#response.destroyed; ) {
      const slices = await readLog(this.#context.db, step.id, from, sliceBytes);
      const read = Buffer.concat(slices.map((slice) => slice.bytes));
      const isFinal = isOver && from + read.length >= step.log_bytes;
      const { events, consumed } = logBytesEvents({ step: step.name, offset: from, bytes: read, isFinal });
      if (consumed === 0) break;
      for (const event of events) {
        this.#cursor.logs[step.name] = event.offset + event.bytes;
        await this.#send('log', event);
      }
      from += consumed;
    }
  }

  /** @param isOver the deployment has ended, and its logs grow no more */
  async #sendLogs(steps: readonly StreamedStep[], isOver: boolean): Promise<void> {
    for (const step of steps) await this.#sendLog(step, isOver);
  }

  /**
   * What readers get before an event: all of the log that it ends. The event was stored with or after the last
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
      const { events: rows, steps } = await readStreamNews(
        this.#context.db,
        this.#deploymentId,
        this.#cursor.event,
        {
          names: streamEventNames,
          limit: eventsAtOnce,
        },
      );
      for (const row of rows) {
        await this.#sendLogsBefore(row.name, row.data, steps);
        this.#cursor.event = row.number;
        await this.#send(row.name, row.data);
        if (row.name === 'end') return true;
      }
      if (rows.length < eventsAtOnce || this.#response.destroyed) {
        await this.#sendLogs(steps, false);
        return false;
      }
    }
  }

  /** Until the deployment has ended or the reader has gone. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      // Subscribed before looking, so that nothing in between is missed.
      const woken = this.#context.events.waitFor(deploymentChannel(this.#deploymentId), {
        signal,
        milliseconds: quietMilliseconds,
      });
      if (await this.#sendNews()) return;
      await woken;
      await this.#check();
      if (!signal.aborted) this.#response.write(': alive\n\n');
    }
  }
}

/**
 * Whether a reader has everything already: then there is no stream, which readers take as "do not come back".
 */
async function hasEnd(context: Context, deploymentId: string, cursor: Cursor): Promise<boolean> {
  const end = await endEventNumber(context.db, deploymentId);
  return end !== undefined && cursor.event >= end;
}

/**
 * Streams until the end of the deployment, or answers 204 where nothing is to come; once the cursor is read,
 * the response is the stream's.
 * @throws Refusal 400 or 404 before the first byte
 */
export async function streamDeployment(
  context: ActorContext,
  deploymentId: string,
  lastEventId: string | undefined,
  { reply, askAgain }: Wire,
): Promise<void> {
  const cursor = decodeCursor(lastEventId);
  const deployment = await getDeploymentPlace(context.db, deploymentId);
  if (!deployment) throw notFound('deployment', deploymentId);
  if (deployment.status === 'NEVER_DEPLOYED' || (await hasEnd(context, deploymentId, cursor)))
    return void (await reply.status(204).send());
  const { response, gone } = openEventStream(context, reply);
  response.write(': envarium\n\n');
  try {
    await new Stream(context, deploymentId, { response, askAgain }, cursor).run(gone);
  } catch (error) {
    if (!(error instanceof Refusal)) context.log.error({ err: error, deploymentId }, 'event stream failed');
  } finally {
    response.end();
  }
}

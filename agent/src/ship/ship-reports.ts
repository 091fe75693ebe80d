/** Sends an attempt's events and step logs, from the server's position, until all is sent. */
import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { ReportReply, ReportRequest, RunEvent } from '#protocol/messages/report.ts';
import { namesIn } from '../processes/proc.ts';
import type { AttemptWake } from '../processes/wake.ts';
import type { SpoolPaths } from '../spool/layout.ts';
import { readShipped, writeShipped } from '../spool/read-attempt.ts';
import type { Completion } from './completion.ts';
import { composeReport, endsStep, type OfferedLog } from './compose-report.ts';
import { EventFile } from './event-file.ts';
import { type ByteFilter, MaskedStepLog } from './step-log.ts';

/**
 * The first bytes are sent immediately. Later ones are batched for this long, and longer if the agent has several
 * runs: each report costs agent, server and database processor time that runs on the same machine need.
 */
const gatherMilliseconds = 100;
const longestGatherMilliseconds = 300;
/** Maximum delay until changes are noticed that the system does not report. */
const pollMilliseconds = 250;
/** More log bytes than fit into one report. */
const pendingLogBytes = 400 * 1024;

export interface ReportShipment {
  readonly paths: SpoolPaths;
  /** Names of the deployment's steps: each may have a log. */
  readonly steps: readonly string[];
  readonly createFilter: () => ByteFilter;
  /** Of each step. */
  readonly mostRawBytes: number;
  readonly maskEvent: (event: RunEvent) => RunEvent;
  readonly send: (report: AttemptReport) => Promise<ReportReply>;
  readonly wake: AttemptWake;
  readonly completion: Completion;
  readonly signal: AbortSignal;
  /** Nothing of this attempt has been sent to the server yet. */
  readonly isFresh: boolean;
  readonly onAbort: (how: 'gently' | 'now') => void;
  /** Number of attempts that the agent reports on. */
  readonly countRuns: () => number;
  /** Whether the last report is returned instead of sent. */
  readonly leavesLast: boolean;
}

type AttemptReport = Omit<ReportRequest, 'fence'>;

/**
 * @returns once the server has everything but the last report, or null if that is sent, too
 * @throws what `send` throws, and the signal's reason
 */
export async function shipReports(shipment: ReportShipment): Promise<AttemptReport | null> {
  using events = new EventFile(shipment.paths.events, shipment.maskEvent);
  using logs = new StepLogs(shipment);
  const waiter = shipment.wake.waiter('report');
  let lastSent = -Infinity;
  let firstNewsAt: number | null = null;
  if (!shipment.isFresh) follow(await shipment.send({ eventsFrom: 0, events: [], logs: logs.questions() }));
  for (;;) {
    shipment.signal.throwIfAborted();
    const wasEnded = shipment.completion.isReached();
    await gather(wasEnded);
    const { report, isEmpty, isFull, isLast } = composeReport({
      eventsFrom: events.firstIndex,
      events: events.pending,
      logs: logs.offers(),
    });
    if (wasEnded && isEmpty && events.isRead) return null;
    if (wasEnded && isLast && events.isRead && shipment.leavesLast) return report;
    if (isNews(report)) firstNewsAt ??= performance.now();
    // A report right before the first bytes of a log would delay them.
    const patience = patienceOf(report, lastSent, firstNewsAt);
    if (wasEnded || (isNews(report) && patience <= 0)) {
      lastSent = performance.now();
      follow(await shipment.send(report));
    } else await waiter.wait(patience > 0 ? patience : pollMilliseconds);
    if (!isFull)
      await Promise.race([
        delay(Math.max(0, lastSent + gatherTime(shipment) - performance.now())),
        shipment.completion.reached,
      ]);
  }

  async function gather(isEnded: boolean): Promise<void> {
    await events.fill();
    const ended = events.pending.filter(endsStep).map((event) => event.step);
    logs.close(isEnded ? shipment.steps : ended);
    await logs.fill();
  }

  function follow(reply: ReportReply): void {
    events.goTo(reply.events);
    logs.goTo(reply.logs);
    if (reply.abort) shipment.onAbort(reply.abort);
  }
}

/** For how long the first report still waits for the first bytes of a log, in milliseconds. */
function patienceOf({ logs }: AttemptReport, lastSent: number, firstNewsAt: number | null): number {
  if (lastSent !== -Infinity || logs.length > 0 || firstNewsAt === null) return 0;
  return firstNewsAt + gatherMilliseconds - performance.now();
}

function gatherTime({ countRuns }: ReportShipment): number {
  return Math.min(gatherMilliseconds * Math.max(1, countRuns()), longestGatherMilliseconds);
}

/** The time that a command took is not sent before there is something else to say. */
function isNews({ events, logs }: AttemptReport): boolean {
  return logs.length > 0 || events.some(({ kind }) => kind !== 'process');
}

/** The logs of all steps of an attempt. */
class StepLogs implements Disposable {
  readonly #logs: Map<string, MaskedStepLog>;
  readonly #paths: SpoolPaths;
  readonly #rawBytes: Record<string, number>;

  constructor(shipment: ReportShipment) {
    this.#paths = shipment.paths;
    this.#logs = new Map(
      shipment.steps.map((step) => [
        step,
        new MaskedStepLog(shipment.paths.stepLog(step), shipment.createFilter, shipment.mostRawBytes),
      ]),
    );
    this.#rawBytes = { ...readShipped(shipment.paths).rawBytes };
  }

  /**
   * Fixes how much of these steps' raw output counts before the server learns of it: a replay ends at the
   * same byte.
   */
  close(steps: readonly string[]): void {
    const open = steps
      .map((step) => [step, this.#logs.get(step)] as const)
      .filter(([, log]) => log && !log.isClosed);
    if (open.length === 0) return;
    for (const [step, log] of open) if (log) this.#rawBytes[step] = log.close(this.#rawBytes[step] ?? null);
    writeShipped(this.#paths, { rawBytes: this.#rawBytes });
  }

  async fill(): Promise<void> {
    // A question for each step that has not begun would take most of the time of a look.
    const present = new Set(namesIn(this.#paths.steps));
    for (const [step, log] of this.#logs)
      if (log.isClosed || present.has(basename(this.#paths.stepLog(step)))) await log.fill(pendingLogBytes);
  }

  offers(): OfferedLog[] {
    return [...this.#logs].map(([step, log]) => ({
      step,
      offset: log.offset,
      pending: log.pending,
      isWhole: log.isWhole,
    }));
  }

  /**
   * Empty chunks: the answer contains the server's position, since an earlier agent may have sent some bytes.
   */
  questions(): ReportRequest['logs'] {
    return [...this.#logs.keys()]
      .filter((step) => existsSync(this.#paths.stepLog(step)))
      .map((step) => ({ step, offset: 0, base64: '' }));
  }

  goTo(offsets: Readonly<Record<string, number>>): void {
    for (const [step, offset] of Object.entries(offsets)) this.#logs.get(step)?.goTo(offset);
  }

  [Symbol.dispose](): void {
    for (const log of this.#logs.values()) log[Symbol.dispose]();
  }
}

/** Changes of a report, computed before anything is written. Pure. */

import type { StepStatus } from '#contract/schema/enumerations.ts';
import type { ReportRequest, RunEvent } from '#protocol/messages/report.ts';
import type { ReportChanges, ReportFacts } from '../../../rows/dispatch/report-store.ts';
import type { NewEvent } from '../../../rows/feeds/event-store.ts';
import { hasEnded, type StepRow } from '../../../rows/logs/step-store.ts';
import { stepView } from '../../logs/step-view.ts';

type GitEvent = Extract<RunEvent, { kind: 'git' }>;

/** The steps of a deployment while a report is applied to them. */
class Steps {
  readonly #facts: ReportFacts;
  readonly #rows: Map<string, StepRow>;
  readonly #changed = new Set<StepRow>();
  readonly bases: Record<string, number>;
  readonly chunks: { step_id: string; first_byte: number; bytes: Buffer }[] = [];

  constructor(facts: ReportFacts) {
    this.#facts = facts;
    this.#rows = new Map(facts.steps.map((row) => [row.name, { ...row }]));
    this.bases = { ...facts.attempt.log_bases };
  }

  get changed(): StepRow[] {
    return [...this.#changed];
  }

  /** Appends what is new of a chunk. @returns the attempt's next expected offset of that step */
  append(chunk: ReportRequest['logs'][number]): number {
    const bytes = Buffer.from(chunk.base64, 'base64');
    const row = this.#rows.get(chunk.step);
    if (!row) return chunk.offset + bytes.length;
    // A later attempt or phase continues where the step's log ends.
    const base = (this.bases[chunk.step] ??= row.log_bytes);
    const expected = row.log_bytes - base;
    if (chunk.offset > expected || chunk.offset + bytes.length <= expected) return expected;
    const fresh = bytes.subarray(expected - chunk.offset);
    this.chunks.push({ step_id: row.id, first_byte: row.log_bytes, bytes: fresh });
    row.log_bytes += fresh.length;
    this.#changed.add(row);
    return expected + fresh.length;
  }

  /** @returns what readers get of it; null where the deployment has no such step */
  move(event: Extract<RunEvent, { kind: 'step' }>): NewEvent | null {
    const row = this.#rows.get(event.step);
    if (!row) return null;
    const at = new Date(event.at);
    const status: StepStatus = event.status;
    row.status = status;
    if (status !== 'NOT_STARTED' && status !== 'SKIPPED') row.started_at ??= at;
    // Skipped steps that did not begin have no times.
    const hasTimes = status !== 'SKIPPED' || row.started_at !== null;
    row.completed_at = hasEnded(status) && hasTimes ? at : null;
    row.retry_count = event.retryCount ?? row.retry_count;
    this.#changed.add(row);
    return { name: 'step', data: stepView(row, this.#facts.deployment) };
  }
}

type ReportedResourceEvent = Extract<RunEvent, { kind: 'resource' }>;

/** Whether an event may add a resource to those of the deployment. */
export function isNewResource(event: RunEvent): event is ReportedResourceEvent {
  return event.kind === 'resource' && event.status === 'done' && event.action !== 'delete';
}

/** Each report about resources writes the whole list, which the outcome replaces. */
const mostLiveResources = 10_000;

/**
 * Resources appear while they are being created, up to a limit; the outcome has the final list.
 * @returns null: no news
 */
function withResources(
  known: ReportFacts['deployment']['resources'],
  events: readonly RunEvent[],
): NonNullable<ReportFacts['deployment']['resources']> | null {
  const rows = [...(known ?? [])];
  const key = (row: { type: string; name: string; moduleName: string }) =>
    `${row.moduleName} ${row.type} ${row.name}`;
  const seen = new Set(rows.map(key));
  for (const event of events) {
    if (rows.length >= mostLiveResources) break;
    if (!isNewResource(event) || seen.has(key(event))) continue;
    seen.add(key(event));
    rows.push({ provider: event.provider, type: event.type, name: event.name, moduleName: event.moduleName });
  }
  return rows.length > (known?.length ?? 0) ? rows : null;
}

/** In the format of all times of the API; git has the time zone of the author. */
function inUtc(time: string): string {
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? time : date.toISOString();
}

function deploymentColumns(facts: ReportFacts, events: readonly RunEvent[]): ReportChanges['deployment'] {
  const git = events.findLast((event): event is GitEvent => event.kind === 'git');
  const resources = withResources(facts.deployment.resources, events);
  if (!git && !resources) return null;
  return {
    ...(git
      ? {
          commit_hash: git.commit,
          git_metadata: JSON.stringify({
            commit: git.commit,
            branch: git.branch,
            timestamp: inUtc(git.timestamp),
          }),
        }
      : {}),
    ...(resources ? { resources: JSON.stringify(resources), resource_count: resources.length } : {}),
  };
}

/** @returns what is to be written, and the positions that the agent gets for an answer */
export function changesOf(
  facts: ReportFacts,
  request: ReportRequest,
): { readonly changes: ReportChanges; readonly logs: Record<string, number> } {
  const steps = new Steps(facts);
  const logs: Record<string, number> = {};
  for (const chunk of request.logs) logs[chunk.step] = steps.append(chunk);
  const stored = facts.attempt.events_stored;
  const fresh = request.eventsFrom > stored ? [] : request.events.slice(stored - request.eventsFrom);
  const news: NewEvent[] = [];
  for (const event of fresh) {
    if (event.kind === 'git') continue;
    const { kind: name, ...data } = event;
    const one = event.kind === 'step' ? steps.move(event) : { name, data };
    if (one) news.push(one);
  }
  const { bases, chunks, changed } = steps;
  const changes: ReportChanges = {
    chunks,
    steps: changed,
    news,
    events: stored + fresh.length,
    bases,
    deployment: deploymentColumns(facts, fresh),
  };
  return { changes, logs };
}

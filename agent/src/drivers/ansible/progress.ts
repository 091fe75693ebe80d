/** Converts what a playbook does to resource events: one resource for each task on each host. */
import type { ProgressEvent, ProgressReader } from '../interface/driver.ts';
import { progressOfLines } from '../interface/progress-lines.ts';
import { type PlaybookEvent, type PlaybookTask, playbookReader, type TaskResult } from './events.ts';

/** Differences make lines long; longer ones are passed over. */
const longestLineBytes = 1_048_576;

/** The address of a task on a host. */
export function addressOf(host: string, { place }: PlaybookTask): string {
  return `${host}/${place}`;
}

function statusOf({ status, isIgnored }: TaskResult): ProgressEvent['status'] {
  return status === 'unreachable' || (status === 'failed' && !isIgnored) ? 'failed' : 'done';
}

function eventOf(event: PlaybookEvent): ProgressEvent | null {
  // Items of loops are summed up by a result of their own.
  if (event.kind === 'end' || event.kind === 'unmatched') return null;
  if (event.kind === 'result' && event.item !== undefined) return null;
  const { host, task } = event;
  const common = {
    address: addressOf(host, task),
    provider: task.collection,
    type: task.action,
    name: task.name,
    moduleName: task.role,
  };
  if (event.kind === 'start') return { ...common, status: 'started', action: 'update' };
  return { ...common, status: statusOf(event), action: event.isChanged ? event.action : 'read' };
}

/** Creates a reader of the growing file of events. */
export function playbookProgress(): ProgressReader {
  const read = playbookReader();
  return progressOfLines(longestLineBytes, (line) => {
    const found = read(line);
    return found === null ? null : eventOf(found);
  });
}

/** Progress of the resources of a stack, from the lines that the program writes about each event. */
import type { ProgressEvent, ProgressReader } from '../interface/driver.ts';
import { progressOfLines } from '../interface/progress-lines.ts';
import { providerName } from './stacks/api/reports.ts';

/** No line about an event is longer. */
const longestLineBytes = 8192;

const actions = { CREATE: 'create', UPDATE: 'update', DELETE: 'delete', IMPORT: 'update' } as const;
const statuses = { IN_PROGRESS: 'started', COMPLETE: 'done', FAILED: 'failed' } as const;

/** As `eventLine` writes it. */
const form = new RegExp(
  [
    String.raw`^\d\d:\d\d:\d\d`,
    String.raw`(?<action>CREATE|UPDATE|DELETE|IMPORT)_(?<status>IN_PROGRESS|COMPLETE|FAILED)`,
    String.raw`(?<type>\S+)`,
    String.raw`(?<path>[A-Za-z0-9.-]+)(?: \[(?<id>[^\]]*)\])?(?:$|: )`,
  ].join(' '),
);

function eventOf(line: string): ProgressEvent | null {
  const { action, status, type = '', path = '', id } = form.exec(line)?.groups ?? {};
  if (action === undefined || status === undefined) return null;
  const ids = path.split('.');
  return {
    address: path,
    provider: providerName,
    type,
    name: ids.at(-1) ?? path,
    moduleName: ids.slice(0, -1).join('.'),
    status: statuses[status as keyof typeof statuses],
    action: actions[action as keyof typeof actions],
    ...(id === undefined ? {} : { id }),
  };
}

export function stackProgress(): ProgressReader {
  return progressOfLines(longestLineBytes, eventOf);
}

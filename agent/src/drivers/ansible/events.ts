/** Reads the lines that the plugin writes: what a playbook does, host by host. */

import { parseExactly } from '#contract/schema/exact-json.ts';
import { recordOf } from '#contract/schema/is-record.ts';
import type { ProgressEvent } from '../interface/driver.ts';

/** A task of a playbook, as its plan and its progress name it. */
export interface PlaybookTask {
  readonly name: string;
  /** The module, or the plugin in front of it. */
  readonly action: string;
  /** The collection of the module. */
  readonly collection: string;
  /** Empty outside of roles. */
  readonly role: string;
  /** Role or play, name, and where several have the same: which one. */
  readonly place: string;
}

/** Result of a task on a host, or for one item of its loop there. */
export interface TaskResult {
  readonly kind: 'result';
  readonly host: string;
  readonly task: PlaybookTask;
  readonly status: 'ok' | 'failed' | 'unreachable' | 'skipped';
  readonly isChanged: boolean;
  /** The playbook continues although it failed. */
  readonly isIgnored: boolean;
  readonly item?: string;
  /** It sums up results of items. */
  readonly hasItems: boolean;
  /** The task has `no_log`: what it changes is a secret. */
  readonly isHidden: boolean;
  /** Check mode did not run it. */
  readonly isUnpredicted: boolean;
  readonly action: ProgressEvent['action'];
  readonly differences: readonly TaskDifference[];
}

/** Parts of what a module says that it changes: texts, or values by name. */
export interface TaskDifference {
  readonly before?: unknown;
  readonly after?: unknown;
  /** Kind of the texts, such as a path. */
  readonly header?: string;
  /** A text in place of both. */
  readonly prepared?: string;
}

export interface TaskStart {
  readonly kind: 'start';
  readonly host: string;
  readonly task: PlaybookTask;
}

/** A play that ran nothing, because it matches no host of the inventory. */
export interface UnmatchedPlay {
  readonly kind: 'unmatched';
  readonly play: string;
}

/** The end of a playbook that was not stopped. */
export interface PlaybookEnd {
  readonly kind: 'end';
  /** Hosts of the inventory for which something was run. */
  readonly hosts: readonly string[];
  /** Values of `set_stats` for the whole run. */
  readonly stats: Readonly<Record<string, unknown>>;
  /** Names of those that tasks with `no_log` set. */
  readonly hidden: readonly string[];
  /** Number of events that the plugin could not report. */
  readonly lost: number;
}

export type PlaybookEvent = TaskStart | TaskResult | UnmatchedPlay | PlaybookEnd;

/** Modules that change nothing but what Ansible knows in this run. */
const memoryModules = /^(ansible\.(builtin|legacy)\.)?(add_host|group_by)$/;

const statuses: readonly TaskResult['status'][] = ['ok', 'failed', 'unreachable', 'skipped'];

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The directory that a temporary file of Ansible is in has no meaning for users. */
function headerOf(values: Readonly<Record<string, unknown>>): string | undefined {
  const headers = [values['before_header'], values['after_header']].map(textOf);
  return headers.find((header) => header !== '' && !header.includes('ansible-local-'));
}

function differenceOf(value: unknown): TaskDifference {
  const values = recordOf(value);
  const header = headerOf(values);
  const { before, after, prepared } = values as Readonly<Record<string, unknown>>;
  return {
    ...(before === undefined || before === null ? {} : { before }),
    ...(after === undefined || after === null ? {} : { after }),
    ...(header === undefined ? {} : { header }),
    ...(typeof prepared === 'string' ? { prepared } : {}),
  };
}

function isAbsent(value: unknown): boolean {
  return recordOf(value)['state'] === 'absent';
}

/** Differences, or the state that the task requests. */
function actionOf(differences: readonly TaskDifference[], state: string): ProgressEvent['action'] {
  const isEach = (side: 'before' | 'after') =>
    differences.length > 0 && differences.every((one) => isAbsent(one[side]) || one[side] === '');
  if (isEach('before') && !isEach('after')) return 'create';
  if (differences.some(({ after }) => isAbsent(after)) || state === 'absent') return 'delete';
  return 'update';
}

/** @returns a function that reads one line after the other; null for those that no reader needs */
export function playbookReader(): (line: string) => PlaybookEvent | null {
  const tasks = new Map<string, PlaybookTask>();
  const uses = new Map<string, number>();
  const learn = (values: Readonly<Record<string, unknown>>): null => {
    const id = textOf(values['task']);
    if (tasks.has(id)) return null;
    const [name, action, role] = [textOf(values['name']), textOf(values['action']), textOf(values['role'])];
    const place = `${role === '' ? textOf(values['play']) : role}/${name}`;
    const use = (uses.get(place) ?? 0) + 1;
    uses.set(place, use);
    const parts = action.split('.');
    tasks.set(id, {
      name,
      action,
      role,
      collection: parts.length > 2 ? parts.slice(0, 2).join('.') : 'ansible.builtin',
      place: use === 1 ? place : `${place} (${use})`,
    });
    return null;
  };
  return (line) => {
    const values = parsed(line);
    if (values['event'] === 'task') return learn(values);
    if (values['event'] === 'stats') return endOf(values);
    if (values['event'] === 'unmatched') return { kind: 'unmatched', play: textOf(values['play']) };
    const host = textOf(values['host']);
    const task = tasks.get(textOf(values['task']));
    if (host === '' || task === undefined) return null;
    if (values['event'] === 'start') return { kind: 'start', host, task };
    return values['event'] === 'result' ? resultOf(values, host, task) : null;
  };
}

function parsed(line: string): Readonly<Record<string, unknown>> {
  // Refusing text by its first character is a hundred times as fast as by an exception.
  if (!line.startsWith('{')) return {};
  try {
    return recordOf(parseExactly(line));
  } catch {
    // The last line of a stopped playbook.
    return {};
  }
}

function resultOf(
  values: Readonly<Record<string, unknown>>,
  host: string,
  task: PlaybookTask,
): TaskResult | null {
  const status = statuses.find((one) => one === values['status']);
  if (status === undefined) return null;
  const { diff } = values as { diff?: unknown };
  const differences = (Array.isArray(diff) ? diff : diff === undefined ? [] : [diff]).map(differenceOf);
  return {
    kind: 'result',
    host,
    task,
    status,
    isChanged: values['changed'] === true && !memoryModules.test(task.action),
    isIgnored: values['ignored'] === true,
    hasItems: values['hasItems'] === true,
    isHidden: values['hidden'] === true,
    isUnpredicted: values['unpredicted'] === true,
    ...(typeof values['item'] === 'string' ? { item: values['item'] } : {}),
    action: actionOf(differences, textOf(values['state'])),
    differences,
  };
}

function endOf(values: Readonly<Record<string, unknown>>): PlaybookEnd {
  const { hidden } = values as { hidden?: unknown };
  return {
    kind: 'end',
    hosts: Object.keys(recordOf(values['hosts'])).sort(),
    stats: recordOf(values['custom']),
    hidden: Array.isArray(hidden) ? hidden.map(textOf) : [],
    lost: Number(values['lost'] ?? 0),
  };
}

/** All events of a file. */
export function readEvents(bytes: Uint8Array): PlaybookEvent[] {
  const read = playbookReader();
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
  return text.split('\n').flatMap((line) => read(line) ?? []);
}

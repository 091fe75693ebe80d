/** Makes the common plan of what a playbook does in check mode. */

import { isDeepStrictEqual } from 'node:util';
import type { ResourceChange } from '#contract/deployments/plan.ts';
import { recordOf } from '#contract/schema/is-record.ts';
import type { PlanReading } from '../interface/driver.ts';
import { withSummary } from '../interface/plan-summary.ts';
import { type PlaybookEvent, readEvents, type TaskDifference, type TaskResult } from './events.ts';
import { addressOf } from './progress.ts';

const hiddenText = '(sensitive)';

/** Why a task is in the plan although its changes are unknown. */
const unpredictedReason = 'check mode does not run this task: what it would change is unknown';

/** Why a play is in the plan. */
const unmatchedReason = 'the play matches no host of the inventory: nothing of it was checked';

type TaskAttributes = ResourceChange['attributes'];

function valuesOf({ before, after }: TaskDifference): TaskAttributes {
  const [left, right] = [recordOf(before), recordOf(after)];
  return [...new Set([...Object.keys(left), ...Object.keys(right)])]
    .filter((name) => !isDeepStrictEqual(left[name], right[name]))
    .map((name) => ({
      name,
      ...(left[name] === undefined ? {} : { before: left[name] }),
      ...(right[name] === undefined ? {} : { after: right[name] }),
    }));
}

function attributesOf(difference: TaskDifference): TaskAttributes {
  const { before, after, header, prepared } = difference;
  const shown: TaskAttributes =
    prepared === undefined ? [] : [{ name: header ?? 'difference', after: prepared }];
  const isText = typeof before === 'string' || typeof after === 'string';
  if (!isText) return [...shown, ...valuesOf(difference)];
  if (before === after) return shown;
  const sides = {
    ...(before === undefined ? {} : { before }),
    ...(after === undefined ? {} : { after }),
  };
  return [...shown, { name: header ?? 'content', ...sides }];
}

function rowOf(result: TaskResult): ResourceChange | null {
  const { host, task, isUnpredicted, isChanged, isHidden, status, hasItems, item, action } = result;
  // Its items have rows of their own.
  if (hasItems || (!isUnpredicted && (!isChanged || status !== 'ok'))) return null;
  const address = addressOf(host, task);
  return {
    name: task.name,
    providerName: task.collection,
    type: task.action,
    path: item === undefined ? address : `${address} (${item})`,
    ...(task.role === '' ? {} : { moduleName: task.role }),
    ...(isUnpredicted
      ? { action: 'metadata', kind: 'unknown', actionReason: unpredictedReason, attributes: [] }
      : {
          action: action === 'read' ? 'update' : action,
          attributes: isHidden
            ? [{ name: 'no_log', after: hiddenText }]
            : result.differences.flatMap(attributesOf),
        }),
  };
}

/** A plan of rows. Those of the kind `unknown` are changes, too. */
function readingOf(resourceChanges: ResourceChange[]): PlanReading {
  const hasChanges = resourceChanges.length > 0;
  return {
    ...withSummary({ resourceChanges, outputChanges: [] }),
    hasChanges,
    hasResourceChanges: hasChanges,
    providerVersions: {},
    moduleVersions: {},
  };
}

/**
 * A plan of one row, about a playbook whose effects are unknown in advance.
 * @param reason a sentence without its full stop
 */
export function unknownPlan(playbook: string, reason: string): PlanReading {
  return readingOf([unknownRow('playbook', playbook, reason)]);
}

function unknownRow(type: 'playbook' | 'play', name: string, actionReason: string): ResourceChange {
  return {
    name,
    providerName: 'ansible',
    type,
    path: name,
    action: 'metadata',
    kind: 'unknown',
    actionReason,
    attributes: [],
  };
}

function rowsOf(event: PlaybookEvent): readonly ResourceChange[] {
  if (event.kind === 'unmatched') return [unknownRow('play', event.play, unmatchedReason)];
  const row = event.kind === 'result' ? rowOf(event) : null;
  return row === null ? [] : [row];
}

/**
 * Reads the events of a playbook in check mode.
 * @throws an Error where the playbook did not get to its end
 */
export function checkedPlan(events: Uint8Array | undefined): PlanReading {
  const found = readEvents(events ?? new Uint8Array());
  const end = found.findLast((event) => event.kind === 'end');
  if (end === undefined)
    throw new Error(
      'the check has reported no end, so that its changes are unknown: a plugin or a setting of the playbook keeps Ansible from loading the plugin of the run; remove it, or skip the check',
    );
  if (end.lost > 0)
    throw new Error(
      `the check could not report ${end.lost} of its results, so that not all of its changes are known: the log says why`,
    );
  return readingOf(found.flatMap(rowsOf));
}

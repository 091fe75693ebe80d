/** Subject of an approval: a change set, or the resources of a stack that is deleted. */
import { inputs, type PhaseCaptures } from '../interface/command.ts';
import type { DriverContext } from '../interface/driver.ts';
import { captured, reportOf } from './captures.ts';
import type { ChangeSetReport, DeletionReport, StackResource } from './stacks/api/reports.ts';

interface ApprovedStackChange {
  readonly isDeletion: boolean;
  readonly stackId: string | null;
  readonly changeSetId: string | null;
  /** Of the changes. */
  readonly hash: string;
  /** Paths of what is deleted. */
  readonly resources: readonly string[];
}

/** The address of a resource: its logical ids, from the outermost stack on. */
export function pathOf({ within, logicalId }: Pick<StackResource, 'within' | 'logicalId'>): string {
  return [...within, logicalId].join('.');
}

/** @throws Error if it is missing */
export function readApproved(captures: PhaseCaptures): ApprovedStackChange {
  return reportOf<ApprovedStackChange>(captures, inputs.approved);
}

function approvedOf({ job }: Pick<DriverContext, 'job'>, captures: PhaseCaptures): ApprovedStackChange {
  if (job.type === 'destroy') {
    const { stackId, resources } = reportOf<DeletionReport>(captures, captured.deletion);
    const paths = resources.filter(({ stays }) => stays === null).map(pathOf);
    return { isDeletion: true, stackId, changeSetId: null, hash: '', resources: paths };
  }
  const { stackId, changeSetId, hash } = reportOf<ChangeSetReport>(captures, captured.changeSet);
  return { isDeletion: false, stackId, changeSetId, hash, resources: [] };
}

export function compose(context: DriverContext, captures: PhaseCaptures): Uint8Array {
  return Buffer.from(JSON.stringify(approvedOf(context, captures)));
}

function deletionDifference(approved: ApprovedStackChange, captures: PhaseCaptures): string | null {
  const now = reportOf<DeletionReport>(captures, captured.deletion);
  if (now.stackId === null) return null;
  if (now.stackId !== approved.stackId) return 'the stack is another one of the same name';
  const beyond = now.resources
    .filter(({ stays }) => stays === null)
    .map(pathOf)
    .filter((path) => !approved.resources.includes(path));
  const named = `${beyond.slice(0, 5).join(', ')}${beyond.length > 5 ? ` and ${beyond.length - 5} more` : ''}`;
  return beyond.length === 0 ? null : `the stack has more resources: ${named}`;
}

/** @returns what is otherwise than it was approved, as a part of a sentence; null: nothing */
export function differing({ job }: DriverContext, captures: PhaseCaptures): string | null {
  const approved = readApproved(captures);
  if (job.type === 'destroy') return deletionDifference(approved, captures);
  const now = reportOf<ChangeSetReport>(captures, captured.changeSet);
  if (typeof now.state !== 'string') return now.state.problem;
  if (now.changeSetId !== approved.changeSetId || now.stackId !== approved.stackId)
    return 'the change set is another one';
  return now.hash === approved.hash ? null : 'the change set has other changes';
}

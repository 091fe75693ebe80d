/** The plan of a stack: one row for each resource that a change set, a deletion or drift names. */
import type { ResourceChange } from '#contract/deployments/plan.ts';
import { maskJson } from '../../logs/mask.ts';
import type { PhaseCaptures } from '../interface/command.ts';
import type { DriverContext, PlanReading } from '../interface/driver.ts';
import { withSummary } from '../interface/plan-summary.ts';
import { withoutLongTexts } from '../interface/plan-values.ts';
import { pathOf } from './approval.ts';
import { captured, reportOf } from './captures.ts';
import {
  type ChangeSetReport,
  type DeletionReport,
  type DriftReport,
  type PropertyChange,
  providerName,
  type StackChange,
  type StackResource,
} from './stacks/api/reports.ts';

type StackPlanRow = ResourceChange;

function identityOf(resource: StackResource): Omit<StackPlanRow, 'action' | 'attributes'> {
  const { logicalId, physicalId, type, within } = resource;
  return {
    ...(physicalId === null ? {} : { id: physicalId }),
    name: logicalId,
    providerName,
    type,
    path: pathOf(resource),
    ...(within.length === 0 ? {} : { moduleName: within.join('.') }),
  };
}

function attribute(name: string, before: unknown, after: unknown): StackPlanRow['attributes'][number] {
  return {
    name,
    ...(before === null || before === undefined ? {} : { before }),
    ...(after === null || after === undefined ? {} : { after }),
  };
}

function actionOf({ action, replacement, policy }: StackChange): StackPlanRow['action'] {
  switch (action) {
    case 'Add':
      return 'create';
    case 'Import':
      return 'metadata';
    case 'Remove':
      return 'delete';
    default:
      if (replacement !== 'True') return 'update';
      return policy === 'ReplaceAndRetain' ? 'create' : 'recreate';
  }
}

function namesOf(properties: readonly PropertyChange[]): string {
  return [...new Set(properties.map(({ name }) => name))].join(', ');
}

function reasonOf({ action, replacement, policy, properties, isDrifted }: StackChange): string | undefined {
  const found: string[] = [];
  const replacing = properties.filter(({ recreation }) => recreation === 'Always');
  const maybe = properties.filter(({ recreation }) => recreation === 'Conditionally');
  if (replacement === 'True')
    found.push(`replaced${replacing.length === 0 ? '' : ` because of ${namesOf(replacing)}`}`);
  if (replacement === 'Conditional')
    found.push(`may be replaced${maybe.length === 0 ? '' : `, depending on ${namesOf(maybe)}`}`);
  if (isDrifted)
    found.push(
      action === 'Add' ? 'it was deleted outside of its stack' : 'it was changed outside of its stack',
    );
  if (action === 'SyncWithActual') found.push('it is what the template wants');
  if (action === 'Dynamic') found.push('CloudFormation decides while it works whether it changes');
  if (policy?.endsWith('Retain') === true)
    found.push('what is there stays, and belongs to no stack any more');
  if (policy?.endsWith('Snapshot') === true) found.push('a snapshot of what is there is kept');
  const causes = [...new Set(properties.flatMap(({ cause }) => cause ?? []))];
  if (causes.length > 0) found.push(`because of ${causes.join(', ')}`);
  return found.length === 0 ? undefined : found.join('; ');
}

/** A resource that leaves its stack and is not deleted. */
function isReleased({ action, policy }: StackChange): boolean {
  return action === 'Remove' && policy === 'Retain';
}

/** A resource of which at least the present object leaves its stack and is not deleted. */
function isForgotten(change: StackChange): boolean {
  const { replacement, policy } = change;
  return isReleased(change) || (replacement === 'True' && policy === 'ReplaceAndRetain');
}

/** Whether only the execution decides if it is replaced, or changed at all. */
function isUndecided({ action, replacement }: StackChange): boolean {
  return action === 'Dynamic' || replacement === 'Conditional';
}

function kindOf(change: StackChange): Pick<StackPlanRow, 'kind'> {
  if (isForgotten(change)) return { kind: 'forget' };
  return isUndecided(change) ? { kind: 'unknown' } : {};
}

function changeRow(change: StackChange): StackPlanRow {
  const reason = reasonOf(change);
  const staysAsItIs = isReleased(change) || change.action === 'SyncWithActual';
  return {
    ...identityOf(change),
    action: staysAsItIs ? 'metadata' : actionOf(change),
    ...kindOf(change),
    ...(change.isDrifted ? { driftByCloud: true } : {}),
    attributes: change.properties.map(({ name, before, after, recreation }) => ({
      ...attribute(name, before, after),
      ...(change.replacement === 'True' && recreation === 'Always' ? { forcesReplacement: true } : {}),
    })),
    ...(change.action === 'Import' && change.physicalId !== null
      ? { importing: { id: change.physicalId } }
      : {}),
    ...(reason === undefined ? {} : { actionReason: reason }),
  };
}

function deletionRow(resource: DeletionReport['resources'][number]): StackPlanRow {
  const { stays } = resource;
  if (stays === null) return { ...identityOf(resource), action: 'delete', attributes: [] };
  return {
    ...identityOf(resource),
    action: 'metadata',
    kind: 'forget',
    attributes: [],
    actionReason: stays,
  };
}

function driftRow(drift: DriftReport['drifts'][number]): StackPlanRow {
  const isGone = drift.status === 'DELETED';
  return {
    ...identityOf(drift),
    action: isGone ? 'create' : 'update',
    driftByCloud: true,
    attributes: drift.differences.map(({ path, expected, actual }) => attribute(path, actual, expected)),
    actionReason: isGone ? 'it was deleted outside of its stack' : 'it was changed outside of its stack',
  };
}

function rowsOf({ job }: DriverContext, captures: PhaseCaptures): StackPlanRow[] {
  if (job.type === 'destroy')
    return reportOf<DeletionReport>(captures, captured.deletion).resources.map(deletionRow);
  const changes = reportOf<ChangeSetReport>(captures, captured.changeSet).changes.map(changeRow);
  if (job.type !== 'driftDetection') return changes;
  const drifted = reportOf<DriftReport>(captures, captured.drift).drifts.map(driftRow);
  const paths = new Set(drifted.map(({ path }) => path));
  return [...drifted, ...changes.filter(({ path }) => !paths.has(path))];
}

/** Whether an apply has something to do. */
function isNeeded({ job }: DriverContext, captures: PhaseCaptures, rows: readonly StackPlanRow[]): boolean {
  if (job.type === 'destroy') return reportOf<DeletionReport>(captures, captured.deletion).stackId !== null;
  const isChanged = reportOf<ChangeSetReport>(captures, captured.changeSet).changeSetId !== null;
  return rows.length > 0 || isChanged;
}

export async function readPlan(context: DriverContext, captures: PhaseCaptures): Promise<PlanReading> {
  const rows = rowsOf(context, captures);
  return {
    ...withSummary(
      withoutLongTexts(maskJson({ resourceChanges: rows, outputChanges: [] }, context.job.secrets)),
    ),
    hasChanges: isNeeded(context, captures, rows),
    hasResourceChanges: rows.length > 0,
    providerVersions: {},
    moduleVersions: {},
  };
}

/** Converts a terraform plan to the common plan. */

import { isDeepStrictEqual } from 'node:util';
import type { Plan, ResourceChange as PlanResourceChange, PlanSummary } from '#contract/deployments/plan.ts';
import { recordOf } from '#contract/schema/is-record.ts';
import { withSummary } from '../interface/plan-summary.ts';
import { type AttributeMasker, attributeMasker } from './attributes.ts';
import type {
  ActionInvocation,
  TerraformChange,
  TerraformPlan,
  TerraformResourceChange,
} from './plan-json.ts';

const withoutEffect = ['no-op', 'read'];

type PlannedAction = Pick<PlanResourceChange, 'action' | 'kind'>;

/** @returns null if the change itself does nothing; it can still be a move or an import */
function plannedIn({ actions }: TerraformChange): PlannedAction | null {
  const has = (action: string) => actions.includes(action);
  // terraform: ["create", "forget"]; OpenTofu: ["forget", "create"].
  if (has('forget')) return { action: has('create') ? 'create' : 'metadata', kind: 'forget' };
  if (has('create')) return { action: has('delete') ? 'recreate' : 'create' };
  for (const action of ['update', 'delete'] as const) if (has(action)) return { action };
  return actions.every((action) => withoutEffect.includes(action))
    ? null
    : { action: 'metadata', kind: 'unknown' };
}

function attributesOf(change: TerraformChange, masker: AttributeMasker): PlanResourceChange['attributes'] {
  const before = recordOf(change.before);
  const after = recordOf(change.after);
  const unknown = recordOf(change.after_unknown);
  const names = new Set([...Object.keys(before), ...Object.keys(after), ...Object.keys(unknown)]);
  const forcing = new Set((change.replace_paths ?? []).map(([name]) => name));
  const attributes: PlanResourceChange['attributes'] = [];
  for (const name of [...names].sort()) {
    const isEqual = isDeepStrictEqual(before[name] ?? null, after[name] ?? null);
    if (isEqual && !isUnknown(unknown[name])) continue;
    attributes.push({
      name,
      ...masker.before(change, name),
      ...(change.actions[0] === 'delete' && change.actions.length === 1 ? {} : masker.after(change, name)),
      ...(forcing.has(name) ? { forcesReplacement: true } : {}),
    });
  }
  return attributes;
}

function isUnknown(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return value === true;
  return Object.values(value).some(isUnknown);
}

function idOf(change: TerraformChange): string | undefined {
  const id = recordOf(change.before)['id'];
  const isSensitive =
    change.before_sensitive === true || recordOf(change.before_sensitive)['id'] !== undefined;
  return typeof id === 'string' && !isSensitive ? id : undefined;
}

/** The id that is imported, or its identity as JSON. */
function importedId({ id, identity }: NonNullable<TerraformChange['importing']>): string {
  return id ?? (identity === undefined ? '' : JSON.stringify(identity));
}

function rowOf(
  resource: TerraformResourceChange,
  masker: AttributeMasker,
  isDrifted: boolean,
): PlanResourceChange | null {
  const { change } = resource;
  const isMetadata = resource.previous_address !== undefined || change.importing !== undefined;
  const planned: PlannedAction | null = plannedIn(change) ?? (isMetadata ? { action: 'metadata' } : null);
  if (resource.mode !== 'managed' || planned === null) return null;
  const attributes = change.actions.join() === 'forget' ? [] : attributesOf(change, masker);
  // Of an update without attributes, only marks of the state change, such as what is sensitive.
  const isMark = planned.action === 'update' && attributes.length === 0;
  const { action, kind }: PlannedAction = isMark ? { action: 'metadata', kind: 'update' } : planned;
  const id = idOf(change);
  const reason =
    resource.action_reason ?? (kind === 'unknown' ? `planned as ${change.actions.join()}` : undefined);
  return {
    ...(id === undefined ? {} : { id }),
    name: resource.name,
    providerName: resource.provider_name,
    type: resource.type,
    path:
      resource.deposed === undefined
        ? resource.address
        : `${resource.address} (deposed object ${resource.deposed})`,
    ...(resource.module_address === undefined ? {} : { moduleName: resource.module_address }),
    action,
    ...(kind === undefined ? {} : { kind }),
    ...(isDrifted ? { driftByCloud: true } : {}),
    attributes,
    ...(change.importing === undefined ? {} : { importing: { id: importedId(change.importing) } }),
    ...(reason === undefined ? {} : { actionReason: reason }),
    ...(action === 'recreate' ? { createBeforeDestroy: change.actions[0] === 'create' } : {}),
    ...(resource.previous_address === undefined ? {} : { previousAddress: resource.previous_address }),
  };
}

function outputRows(plan: TerraformPlan, masker: AttributeMasker): Plan['outputChanges'] {
  const rows: Plan['outputChanges'] = [];
  for (const [name, change] of Object.entries(plan.output_changes ?? {})) {
    const planned = plannedIn(change);
    if (planned === null) continue;
    rows.push({
      name,
      action: planned.action,
      attributes: [{ name: 'value', ...masker.wholeBefore(change), ...masker.wholeAfter(change) }],
    });
  }
  return rows;
}

function invocationRow(invocation: ActionInvocation): PlanResourceChange {
  const { address, name, type, provider_name: providerName, lifecycle_action_trigger: trigger } = invocation;
  const { triggering_resource_address: resource, action_trigger_event: event = 'trigger' } = trigger ?? {};
  return {
    name,
    providerName,
    type,
    path: address,
    action: 'metadata',
    kind: 'invoke',
    attributes: [],
    ...(resource === undefined ? {} : { actionReason: `${event} of ${resource}` }),
  };
}

/** Changes that the tool leaves to a later plan, because it cannot know enough yet. */
function deferredRows(plan: TerraformPlan, masker: AttributeMasker): PlanResourceChange[] {
  const changes = (plan.deferred_changes ?? []).flatMap(({ reason, resource_change: resource }) => {
    const row = rowOf(resource, masker, false);
    return row === null ? [] : [{ ...row, actionReason: reason }];
  });
  const invocations = (plan.deferred_action_invocations ?? []).map(
    ({ reason, action_invocation: invocation }) => ({ ...invocationRow(invocation), actionReason: reason }),
  );
  return [...changes, ...invocations].map((row) => ({ ...row, kind: 'defer' }));
}

function isEmpty(value: unknown): boolean {
  return (
    value === null ||
    value === undefined ||
    value === '' ||
    (typeof value === 'object' && Object.keys(value).length === 0)
  );
}

/**
 * Providers often return an empty list or map for null right after they created a resource: that is not
 * drift.
 */
function isRealDrift({ mode, change }: TerraformResourceChange): boolean {
  if (mode !== 'managed' || change.actions.includes('no-op')) return false;
  if (change.actions.includes('delete')) return true;
  const before = recordOf(change.before);
  const after = recordOf(change.after);
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].some(
    (name) =>
      !isDeepStrictEqual(before[name], after[name]) && !(isEmpty(before[name]) && isEmpty(after[name])),
  );
}

export interface CommonPlan {
  readonly plan: Plan;
  readonly planSummary: PlanSummary;
  readonly hasChanges: boolean;
  readonly hasResourceChanges: boolean;
}

/**
 * Findings of a refresh-only plan that the plan itself does not change: attributes that providers compute
 * after an apply, and changes that the code does not specify. It is not drift; the next apply stores it in
 * the state.
 */
function settledRows(
  drifts: readonly TerraformResourceChange[],
  planned: ReadonlySet<string>,
  masker: AttributeMasker,
): PlanResourceChange[] {
  return drifts
    .filter(({ address }) => !planned.has(address))
    .flatMap((resource) => rowOf(resource, masker, true) ?? []);
}

/**
 * Whether the tool has something to apply that no row shows. Data sources within checks are read again in each
 * apply, and change nothing.
 */
function isApplyableOtherwise({ applyable, resource_changes: changes = [] }: TerraformPlan): boolean {
  return applyable === true && !changes.some(({ change }) => change.actions.includes('read'));
}

/**
 * @param planned the plan that would be applied
 * @param refreshed the refresh-only plan of a drift run: its findings are marked `driftByCloud` if the plan
 * changes them, and listed in `settled` otherwise
 * @param masker of all plans whose values the rows may contain
 */
export function commonPlan(
  planned: TerraformPlan,
  refreshed?: TerraformPlan,
  masker: AttributeMasker = attributeMasker([planned, ...(refreshed ? [refreshed] : [])]),
): CommonPlan {
  const drifts = ((refreshed ?? planned).resource_drift ?? []).filter(isRealDrift);
  const drifted = new Set(drifts.map((resource) => resource.address));
  const changes = planned.resource_changes ?? [];
  const changed = changes.flatMap((resource) => rowOf(resource, masker, drifted.has(resource.address)) ?? []);
  const resourceChanges = [
    ...changed,
    ...(planned.action_invocations ?? []).map(invocationRow),
    ...deferredRows(planned, masker),
  ];
  const settled = refreshed ? settledRows(drifts, new Set(changed.map(({ path }) => path)), masker) : [];
  const outputChanges = outputRows(planned, masker);
  return {
    ...withSummary({ resourceChanges, outputChanges, ...(settled.length > 0 ? { settled } : {}) }),
    hasChanges: resourceChanges.length > 0 || outputChanges.length > 0 || isApplyableOtherwise(planned),
    // Actions and what is deferred leave the state as it is.
    hasResourceChanges: changed.length > 0,
  };
}

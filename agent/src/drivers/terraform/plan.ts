/** Converts a terraform plan to the common plan. */
import { recordOf } from '#contract/schema/is-record.ts';
import { isDeepStrictEqual } from 'node:util';
import type { Plan, PlanSummary, ResourceChange as PlanResourceChange } from '#contract/deployments/plan.ts';
import { attributeMasker, type AttributeMasker } from './attributes.ts';
import type { Action, Change, ResourceChange, TerraformPlan } from './plan-json.ts';

function actionOf(change: Change): PlanResourceChange['action'] | null {
  const actions = new Set(change.actions);
  if (actions.has('create') && actions.size === 2) return 'recreate';
  for (const action of ['create', 'update', 'delete'] as const) if (actions.has(action)) return action;
  return actions.has('forget') ? 'metadata' : null;
}

function attributesOf(change: Change, masker: AttributeMasker): PlanResourceChange['attributes'] {
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

function idOf(change: Change): string | undefined {
  const id = recordOf(change.before)['id'];
  const isSensitive =
    change.before_sensitive === true || recordOf(change.before_sensitive)['id'] !== undefined;
  return typeof id === 'string' && !isSensitive ? id : undefined;
}

function rowOf(
  resource: ResourceChange,
  masker: AttributeMasker,
  isDrifted: boolean,
): PlanResourceChange | null {
  const { change } = resource;
  const isMetadata = resource.previous_address !== undefined || change.importing !== undefined;
  const found = actionOf(change) ?? (isMetadata ? 'metadata' : null);
  if (resource.mode !== 'managed' || found === null) return null;
  const attributes = change.actions.includes('forget') ? [] : attributesOf(change, masker);
  const action = found === 'update' && attributes.length === 0 ? 'metadata' : found;
  const id = idOf(change);
  const importId = change.importing?.id;
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
    ...(isDrifted ? { driftByCloud: true } : {}),
    attributes,
    ...(change.importing === undefined ? {} : { importing: { id: importId ?? '' } }),
    ...(resource.action_reason === undefined ? {} : { actionReason: resource.action_reason }),
    ...(action === 'recreate' ? { createBeforeDestroy: change.actions[0] === 'create' } : {}),
    ...(resource.previous_address === undefined ? {} : { previousAddress: resource.previous_address }),
  };
}

function outputRows(plan: TerraformPlan, masker: AttributeMasker): Plan['outputChanges'] {
  const rows: Plan['outputChanges'] = [];
  for (const [name, change] of Object.entries(plan.output_changes ?? {})) {
    const action = actionOf(change);
    if (action === null) continue;
    rows.push({
      name,
      action,
      attributes: [{ name: 'value', ...masker.wholeBefore(change), ...masker.wholeAfter(change) }],
    });
  }
  return rows;
}

/** Counts like terraform's own summary: a replacement is one added and one destroyed. */
function summaryOf(changes: readonly ResourceChange[]): PlanSummary {
  const managed = changes.filter((resource) => resource.mode === 'managed');
  const count = (action: Action) =>
    managed.filter((resource) => resource.change.actions.includes(action)).length;
  const imported = managed.filter((resource) => resource.change.importing !== undefined).length;
  return {
    added: count('create'),
    changed: count('update'),
    destroyed: count('delete'),
    ...(imported > 0 ? { imported } : {}),
  };
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
function isRealDrift({ mode, change }: ResourceChange): boolean {
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
  drifts: readonly ResourceChange[],
  planned: ReadonlySet<string>,
  masker: AttributeMasker,
): PlanResourceChange[] {
  return drifts
    .filter(({ address }) => !planned.has(address))
    .flatMap((resource) => rowOf(resource, masker, true) ?? []);
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
  const resourceChanges = changes.flatMap(
    (resource) => rowOf(resource, masker, drifted.has(resource.address)) ?? [],
  );
  const settled = refreshed
    ? settledRows(drifts, new Set(resourceChanges.map(({ path }) => path)), masker)
    : [];
  const outputChanges = outputRows(planned, masker);
  const hasResourceChanges = resourceChanges.length > 0;
  return {
    plan: { resourceChanges, outputChanges, ...(settled.length > 0 ? { settled } : {}) },
    planSummary: summaryOf(changes),
    hasChanges: hasResourceChanges || outputChanges.length > 0 || planned.applyable === true,
    hasResourceChanges,
  };
}

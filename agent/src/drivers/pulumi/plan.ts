/** Converts the events of a preview to the common plan. */
import { isDeepStrictEqual } from 'node:util';
import type { Plan, ResourceChange } from '#contract/deployments/plan.ts';
import { hasSecret, isManagedType } from '#protocol/tools/pulumi/state.ts';
import type { PlanReading } from '../interface/driver.ts';
import { withSummary } from '../interface/plan-summary.ts';
import { type EngineEvent, type EventState, packageOf, type StepMetadata, urnParts } from './events.ts';
import { shown } from './values.ts';

type ChangeAction = ResourceChange['action'];
type PropertyAttributes = ResourceChange['attributes'];

/** Steps that change nothing. */
const idle = ['same', 'refresh', 'read', 'diff', 'remove-pending-replace'];

/** Known steps with a row of their own. A replacement has one, whichever of its halves are announced. */
const actions: Readonly<Record<string, ChangeAction>> = {
  create: 'create',
  update: 'update',
  delete: 'delete',
  replace: 'recreate',
  'create-replacement': 'recreate',
  'delete-replaced': 'recreate',
  'import-replacement': 'recreate',
  import: 'metadata',
};

interface Effect {
  readonly action: ChangeAction;
  readonly kind?: 'unknown';
}

/** Action of a step; null: none. One that only a later version of Pulumi has may do anything. */
export function effectOf(op: string): Effect | null {
  if (idle.includes(op)) return null;
  const action = Object.hasOwn(actions, op) ? actions[op] : undefined;
  return action === undefined ? { action: 'metadata', kind: 'unknown' } : { action };
}

const stackType = 'pulumi:pulumi:Stack';

/** The attribute that a path such as `tags.name` or `rules[0]` is within. */
function attributeOf(path: string): string {
  return /^[^.[]+/.exec(path)?.[0] ?? path;
}

/** Paths of what forces a replacement. */
function forcingPaths({ detailedDiff }: StepMetadata): string[] {
  return Object.entries(detailedDiff ?? {})
    .filter(([, diff]) => String((diff as { diffKind?: unknown } | null)?.diffKind).endsWith('replace'))
    .map(([path]) => path);
}

function attributesOf(metadata: StepMetadata, hasAfter: boolean): PropertyAttributes {
  const { old, new: wanted, diffs } = metadata;
  const before = old?.inputs ?? {};
  const after = hasAfter ? (wanted?.inputs ?? {}) : {};
  const named = new Set((diffs ?? []).map(attributeOf));
  const forcing = new Set(forcingPaths(metadata).map(attributeOf));
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return names.flatMap((name) => {
    const [left, right] = [before[name], after[name]];
    // A changed secret looks the same before and after.
    const isChangedSecret = named.has(name) && (hasSecret(left) || hasSecret(right));
    if (isDeepStrictEqual(left, right) && !isChangedSecret) return [];
    return [
      {
        name,
        ...(left === undefined ? {} : { before: shown(left) }),
        ...(right === undefined ? {} : { after: shown(right) }),
        ...(forcing.has(name) ? { forcesReplacement: true } : {}),
      },
    ];
  });
}

/** The reason of a replacement in words; undefined for other steps. */
function reasonOf(metadata: StepMetadata): string | undefined {
  const names = forcingPaths(metadata);
  return names.length === 0 ? undefined : `replaced because of ${names.join(', ')}`;
}

function rowOf(metadata: StepMetadata, { action, kind }: Effect, isDrifted: boolean): ResourceChange {
  const { urn } = metadata;
  const { parents, type, name } = urnParts(urn);
  const id = metadata.old?.id;
  const moduleName = parents.filter(isManagedType).join('/');
  const importId = metadata.op.startsWith('import') ? metadata.new?.id : undefined;
  const reason =
    kind === 'unknown'
      ? `Pulumi plans ${JSON.stringify(metadata.op)}`
      : action === 'recreate'
        ? reasonOf(metadata)
        : undefined;
  return {
    ...(id === undefined || id === '' ? {} : { id }),
    name,
    providerName: packageOf(type),
    type,
    path: urn,
    ...(moduleName === '' ? {} : { moduleName }),
    action,
    ...(kind === undefined ? {} : { kind }),
    ...(isDrifted ? { driftByCloud: true } : {}),
    attributes: attributesOf(metadata, action !== 'delete'),
    ...(importId === undefined ? {} : { importing: { id: importId } }),
    ...(reason === undefined ? {} : { actionReason: reason }),
  };
}

/** The steps that an event announces; others report what has been done. */
function announced(events: readonly EngineEvent[]): StepMetadata[] {
  return events.flatMap(({ resourcePreEvent }) => resourcePreEvent?.metadata ?? []);
}

function done(events: readonly EngineEvent[]): StepMetadata[] {
  return events.flatMap(({ resOutputsEvent }) => resOutputsEvent?.metadata ?? []);
}

/** Differences between the refresh ahead of a preview and the state, by URN. */
function driftsOf(events: readonly EngineEvent[]): Map<string, StepMetadata> {
  const found = done(events).filter(({ op, type, old, new: now }) => {
    if (op !== 'refresh' || !isManagedType(type)) return false;
    return now === null || !isDeepStrictEqual(contentOf(old), contentOf(now));
  });
  return new Map(found.map((metadata) => [metadata.urn, metadata]));
}

function contentOf(state: EventState | null): unknown {
  return [state?.id, state?.inputs, state?.outputs];
}

/** The row of a resource that is not deleted: it only leaves the stack. */
function retainedRow(row: ResourceChange): ResourceChange {
  const isReplaced = row.action === 'recreate';
  if (!isReplaced && row.action !== 'delete') return row;
  const stays = 'retainOnDelete: it stays, and the stack no longer has it';
  return {
    ...row,
    action: isReplaced ? 'create' : 'metadata',
    kind: 'forget',
    ...(isReplaced ? {} : { attributes: [] }),
    actionReason: row.actionReason === undefined ? stays : `${row.actionReason}; ${stays}`,
  };
}

function changeRows(events: readonly EngineEvent[], drifts: ReadonlyMap<string, unknown>): ResourceChange[] {
  const rows = new Map<string, ResourceChange>();
  for (const metadata of announced(events)) {
    const effect = effectOf(metadata.op);
    if (effect === null || !isManagedType(metadata.type)) continue;
    const known = rows.get(metadata.urn);
    // The halves of a replacement: the one that creates says what will be.
    if (known !== undefined && (known.action === 'recreate' || effect.action !== 'recreate')) {
      if (metadata.op !== 'create-replacement' && metadata.op !== 'replace') continue;
    }
    const row = rowOf(metadata, effect, drifts.has(metadata.urn));
    const hasOld = row.action === 'recreate' && known !== undefined && known.attributes.length > 0;
    rows.set(metadata.urn, hasOld && row.attributes.length === 0 ? known : row);
  }
  return [...rows.values()];
}

/** Differences found by the refresh that the preview leaves unchanged. */
function settledRows(
  rows: readonly ResourceChange[],
  drifts: ReadonlyMap<string, StepMetadata>,
): ResourceChange[] {
  const changed = new Set(rows.map(({ path }) => path));
  return [...drifts.values()]
    .filter(({ urn }) => !changed.has(urn))
    .map((metadata) => rowOf(metadata, { action: metadata.new === null ? 'delete' : 'update' }, true));
}

function outputRows(events: readonly EngineEvent[]): Plan['outputChanges'] {
  // The first one of the stack, before its program has run, has no outputs yet.
  const last = done(events).findLast(({ type, op }) => type === stackType && op !== 'refresh');
  const before = last?.old?.outputs ?? {};
  const after = last?.new?.outputs ?? {};
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return names.flatMap((name) => {
    const [left, right] = [before[name], after[name]];
    if (isDeepStrictEqual(left, right)) return [];
    const action = left === undefined ? 'create' : right === undefined ? 'delete' : 'update';
    const sides = {
      ...(left === undefined ? {} : { before: shown(left) }),
      ...(right === undefined ? {} : { after: shown(right) }),
    };
    return [{ name, action, attributes: [{ name: 'value', ...sides }] }];
  });
}

/**
 * @param events of a preview of an update or a destroy
 * @param retained URNs of resources that are not deleted, of the state
 * @returns with texts of any length, which are cut once secrets in them are masked
 * @throws Error if they have no end
 */
export function commonPlan(
  events: readonly EngineEvent[],
  retained: ReadonlySet<string> = new Set(),
): PlanReading {
  if (!events.some(({ summaryEvent }) => summaryEvent !== undefined))
    throw new Error('the events of the preview are not complete: deploy again');
  const drifts = driftsOf(events);
  const resourceChanges = changeRows(events, drifts).map((row) =>
    retained.has(row.path) ? retainedRow(row) : row,
  );
  const settled = settledRows(resourceChanges, drifts);
  const outputChanges = outputRows(events);
  const plan: Plan = { resourceChanges, outputChanges, ...(settled.length > 0 ? { settled } : {}) };
  return {
    ...withSummary(plan),
    hasChanges: resourceChanges.length > 0 || outputChanges.length > 0,
    hasResourceChanges: resourceChanges.length > 0,
    providerVersions: {},
    moduleVersions: {},
  };
}

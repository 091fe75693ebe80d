/** Reads the plans of all units of a run as one plan. */
import type { PlannedUnit, PlanSummary, ResourceChange } from '#contract/deployments/plan.ts';
import { hasDrift, kindsOf as kindsOfChange } from '#contract/deployments/plan-counts.ts';
import { unitAddress, unitModule, versionsOfUnits } from '#contract/deployments/unit-names.ts';
import { planOnlyTypes } from '#protocol/tools/steps.ts';
import { terraformState } from '#protocol/tools/terraform-state.ts';
import { areUnitStates, readUnitStates } from '#protocol/tools/terragrunt-state.ts';
import { maskJson, maskText } from '../../logs/mask.ts';
import { packFiles, unpackFiles } from '../../slots/packed-files.ts';
import type { PlanToEstimate } from '../interface/capabilities.ts';
import { inputs, type PhaseCaptures } from '../interface/command.ts';
import type { DriverContext, PlanReading } from '../interface/driver.ts';
import { withSummary } from '../interface/plan-summary.ts';
import { withoutLongTexts } from '../interface/plan-values.ts';
import { type AttributeMasker, attributeMasker } from '../terraform/attributes.ts';
import { planOf, providersOf } from '../terraform/family.ts';
import { lockFileName } from '../terraform/lock-file.ts';
import { type CommonPlan, commonPlan } from '../terraform/plan.ts';
import type { TerraformPlan } from '../terraform/plan-json.ts';
import { installedModules, modulesFileName } from '../terraform/versions.ts';
import { parseConfigurations } from './backends.ts';
import { type Deferred, deferredUnits, mockedUnits } from './deferred.ts';
import { isRunAll, planName, unitsOf } from './settings.ts';
import { elsewhereOf } from './unit-states.ts';
import { valuesEnding } from './unit-values/run-unit-values.ts';
import type { TerragruntUnit } from './units.ts';
import { unplannedUnits } from './unplanned-units.ts';
import { workingFolder } from './working-folders.ts';

/** Under which a unit's plan is captured as JSON; `refresh`: the one that only looks for drift. */
export function planCapture(index: number, kind: 'plan' | 'refresh'): string {
  return `${kind}-${index}.json`;
}
/** Under which the lines are captured that say whose outputs are missing. */
export const outputLines = 'output-lines';

function plansIn(
  units: readonly TerragruntUnit[],
  captures: PhaseCaptures,
  kind: 'plan' | 'refresh',
): Map<string, TerraformPlan> {
  const found = units.flatMap(({ path }, index) => {
    const bytes = captures.get(planCapture(index, kind));
    return bytes === undefined ? [] : [[path, planOf(bytes)] as const];
  });
  return new Map(found);
}

/** The plans of the units, as their tool shows them. */
export function plansToEstimate(context: DriverContext, captures: PhaseCaptures): PlanToEstimate[] {
  return unitsOf(context).flatMap(({ path }, index) => {
    const json = captures.get(planCapture(index, 'plan'));
    return json === undefined ? [] : [{ unit: isRunAll(context.job) ? path : null, json }];
  });
}

/** The units that an apply leaves out; for a drift run, which has no apply, those that could not be planned. */
async function deferredIn(
  context: DriverContext,
  units: readonly TerragruntUnit[],
  plans: ReadonlyMap<string, TerraformPlan>,
  captures: PhaseCaptures,
): Promise<Map<string, Deferred>> {
  if (context.job.type === 'destroy') return new Map();
  const parsed = await parseConfigurations(context, units, (text) => text.includes('dependency'));
  const lines = captures.get(outputLines);
  const { configurationFolder } = context;
  const mocked = mockedUnits(lines, units, configurationFolder);
  const unplanned = unplannedUnits(captures, lines, configurationFolder) ?? new Map();
  const deferred = deferredUnits({ units, plans, parsed, mocked, unplanned });
  if (context.job.type !== 'driftDetection') return deferred;
  return new Map([...deferred].filter(([unit]) => !plans.has(unit)));
}

function rowsIn(unit: string, rows: readonly ResourceChange[], reason: string | undefined): ResourceChange[] {
  return rows.map((row) => {
    const module = unitModule(unit, row.moduleName ?? '');
    return {
      ...row,
      path: unitAddress(unit, row.path),
      ...(module === '' ? {} : { moduleName: module }),
      ...(row.previousAddress === undefined
        ? {}
        : { previousAddress: unitAddress(unit, row.previousAddress) }),
      ...(reason === undefined
        ? {}
        : { kind: 'defer' as const, actionReason: `not applied with this plan: ${reason}` }),
    };
  });
}

interface ReadUnit extends CommonPlan {
  readonly unit: string;
  /** Why the apply leaves it out. */
  readonly reason?: string;
  /** Numbers of changes, by their kinds. */
  readonly kinds: Record<string, number>;
}

function readUnit(
  unit: string,
  plan: TerraformPlan,
  refreshed: TerraformPlan | undefined,
  masker: AttributeMasker,
  reason: string | undefined,
): ReadUnit {
  const common = commonPlan(plan, refreshed, masker);
  const settled = common.plan.settled;
  const named = (name: string) => (unit === '.' ? name : `${unit}.${name}`);
  return {
    ...common,
    unit,
    kinds: kindsOf(common.plan.resourceChanges),
    ...(reason === undefined ? {} : { reason }),
    plan: {
      resourceChanges: rowsIn(unit, common.plan.resourceChanges, reason),
      outputChanges: common.plan.outputChanges.map((row) => ({ ...row, name: named(row.name) })),
      ...(settled === undefined ? {} : { settled: rowsIn(unit, settled, undefined) }),
    },
  };
}

/**
 * Whether the service plans units once others are applied. It does so by their paths, in texts that all users
 * can read: of a path with a secret, it learns nothing.
 */
function hasLevels(context: DriverContext): boolean {
  const { job } = context;
  if (!isRunAll(job) || job.level === undefined) return false;
  return unitsOf(context).every(({ path }) => maskText(path, job.secrets) === path);
}

/** Outlook for a unit that the apply leaves out. */
function sequelOf(context: DriverContext, { follows }: Deferred): string {
  const isContinued = follows && hasLevels(context) && !planOnlyTypes.includes(context.job.type);
  return isContinued
    ? 'It is planned once this plan is applied.'
    : 'Deploy again after this deployment has succeeded.';
}

function remarksOf(context: DriverContext, deferred: ReadonlyMap<string, Deferred>): string[] {
  if (context.job.type === 'driftDetection')
    return [...deferred].map(
      ([unit, { reason }]) =>
        `Drift of unit ${unit} cannot be detected: ${reason}. Deploy the environment first.`,
    );
  return [...deferred].map(
    ([unit, each]) =>
      `Unit ${unit} is not applied with this plan: ${each.reason}. ${sequelOf(context, each)}`,
  );
}

/** Numbers of changes, by their kinds. */
function kindsOf(rows: readonly ResourceChange[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const row of rows)
    for (const kind of kindsOfChange(row)) {
      const name = `${kind} ${row.type}`;
      if (kind !== 'note') counts[name] = (counts[name] ?? 0) + 1;
    }
  return counts;
}

/** Subject of the plan, for the service: it decides whether what follows is within what was approved. */
function plannedUnitsOf(
  context: DriverContext,
  read: readonly ReadUnit[],
  deferred: ReadonlyMap<string, Deferred>,
  versions: ReadonlyMap<string, PlannedVersions>,
): PlannedUnit[] {
  if (!hasLevels(context)) return [];
  const kinds = new Map(read.map((each) => [each.unit, each.kinds]));
  const units = [...new Set([...kinds.keys(), ...deferred.keys()])];
  return units.map((unit) => {
    const changes = kinds.get(unit);
    const waiting = deferred.get(unit);
    return {
      unit,
      ...(changes === undefined ? {} : { changes }),
      ...versions.get(unit),
      ...(waiting === undefined ? {} : { reason: waiting.reason }),
      ...(waiting?.follows === true ? { follows: true } : {}),
    };
  });
}

/** The units with changes, known or not, that the apply leaves out. */
function waitingUnits(
  read: readonly ReadUnit[],
  deferred: ReadonlyMap<string, Deferred>,
): { unit: string; reason: string }[] {
  const unchanged = new Set(read.flatMap(({ unit, hasChanges }) => (hasChanges ? [] : [unit])));
  return [...deferred].flatMap(([unit, { reason }]) => (unchanged.has(unit) ? [] : [{ unit, reason }]));
}

/** An apply that could not do anything of what the plan shows would never get further. */
function refuseOnlyDeferred(
  { job }: DriverContext,
  read: readonly ReadUnit[],
  deferred: ReadonlyMap<string, Deferred>,
): void {
  const isApplied = !planOnlyTypes.includes(job.type);
  const waiting = waitingUnits(read, deferred);
  if (!isApplied || waiting.length === 0) return;
  if (read.some(({ reason, hasChanges }) => reason === undefined && hasChanges)) return;
  const list = waiting.map(({ unit, reason }) => `unit ${unit}: ${reason}`).join('; ');
  throw new Error(
    `Nothing of this plan can be applied (${list}). Deploy the units that it needs first, so that they have outputs, or include them in this deployment`,
  );
}

/** A drift run that finds nothing has to have seen all units. */
function refuseUnseen({ job }: DriverContext, planSummary: PlanSummary, unseen: readonly string[]): void {
  if (job.type !== 'driftDetection' || unseen.length === 0 || hasDrift(planSummary)) return;
  throw new Error(unseen.join('\n'));
}

/** The units of the stored states that may have resources. */
function storedUnits(captures: PhaseCaptures): string[] {
  const stored = captures.get(inputs.state);
  if (stored === undefined || !areUnitStates(stored)) return [];
  return [...readUnitStates(stored).units].flatMap(([unit, state]) =>
    terraformState.read(state).resourceCount === 0 ? [] : [unit],
  );
}

/** The plan of a unit that has moved to a backend of its own would create everything again. */
function refuseLeftStates(context: DriverContext, captures: PhaseCaptures): void {
  const elsewhere = elsewhereOf(context) ?? [];
  const left = storedUnits(captures).filter((unit) => elsewhere.includes(unit));
  if (left.length === 0) return;
  throw new Error(
    `The service stores the state of ${left.map((unit) => `unit ${unit}`).join(', ')}, and the code has a backend for it, which does not: remove that backend, or download the state of the environment, move the unit's to the backend with "state push", and import the rest`,
  );
}

/** Units that the state has and the code does not: nothing removes their resources. */
function removedUnits(captures: PhaseCaptures, units: readonly TerragruntUnit[]): string[] {
  const known = new Set(units.map(({ path }) => path));
  return storedUnits(captures).filter((unit) => !known.has(unit));
}

function removedRemarks(context: DriverContext, captures: PhaseCaptures): string[] {
  // The first level of the deployment has named them.
  if (context.job.level !== undefined && context.job.level.number > 1) return [];
  return removedUnits(captures, unitsOf(context)).map(
    (unit) =>
      `Unit ${unit} is not part of this run, and its state still has resources, which stay as they are: to destroy them, run with the code that has the unit.`,
  );
}

type PlannedVersions = Pick<PlanReading, 'providerVersions' | 'moduleVersions'>;

/** The versions that each plan was made with. */
async function versionsByUnit(
  { tree }: DriverContext,
  plans: ReadonlyMap<string, TerraformPlan>,
): Promise<Map<string, PlannedVersions>> {
  const found = await Promise.all(
    [...plans].map(async ([unit, plan]) => {
      const folder = await workingFolder((each) => tree.list(each), unit);
      const text = (name: string) => (folder === null ? null : tree.text(`${folder}/${name}`));
      const [lock, modules] = await Promise.all([text(lockFileName), text(modulesFileName)]);
      const versions = {
        providerVersions: providersOf(plan, lock),
        moduleVersions: installedModules(modules),
      };
      return [unit, versions] as const;
    }),
  );
  return new Map(found);
}

/** @throws Error if a plan is missing, made without the unit's state, or none of the plans can be applied */
export async function readUnitPlans(context: DriverContext, captures: PhaseCaptures): Promise<PlanReading> {
  refuseLeftStates(context, captures);
  const units = unitsOf(context);
  const plans = plansIn(units, captures, 'plan');
  if (plans.size === 0) throw new Error('no unit has a plan: all of them are excluded');
  const refreshed = plansIn(units, captures, 'refresh');
  const deferred = await deferredIn(context, units, plans, captures);
  // An output that is sensitive in one unit is an ordinary input of another.
  const masker = attributeMasker([...plans.values(), ...refreshed.values()]);
  const read = [...plans].map(([unit, plan]) =>
    readUnit(unit, plan, refreshed.get(unit), masker, deferred.get(unit)?.reason),
  );
  refuseOnlyDeferred(context, read, deferred);
  const settled = read.flatMap(({ plan }) => plan.settled ?? []);
  const plan = {
    resourceChanges: read.flatMap((each) => each.plan.resourceChanges),
    outputChanges: read.flatMap((each) => each.plan.outputChanges),
    ...(settled.length > 0 ? { settled } : {}),
  };
  const hasUnplanned = [...deferred.keys()].some((unit) => !plans.has(unit));
  const remarks = [...remarksOf(context, deferred), ...removedRemarks(context, captures)];
  const versions = await versionsByUnit(context, plans);
  const planned = plannedUnitsOf(context, read, deferred, versions);
  const summarized = withSummary(withoutLongTexts(maskJson(plan, context.job.secrets)));
  refuseUnseen(context, summarized.planSummary, remarksOf(context, deferred));
  return {
    ...summarized,
    hasChanges: hasUnplanned || read.some(({ hasChanges }) => hasChanges),
    hasResourceChanges: hasUnplanned || read.some(({ hasResourceChanges }) => hasResourceChanges),
    ...versionsOfUnits([...versions].map(([unit, each]) => ({ unit, ...each }))),
    ...(planned.length > 0 ? { units: planned } : {}),
    ...(remarks.length > 0 ? { remarks } : {}),
  };
}

/** The plans of the units that the apply carries out, packed. */
export async function approvedPlans(context: DriverContext, captures: PhaseCaptures): Promise<Uint8Array> {
  const saved = captures.get(inputs.saved);
  if (saved === undefined) throw new Error('the saved plans are missing');
  if (!isRunAll(context.job)) return saved;
  const units = unitsOf(context);
  const deferred = await deferredIn(context, units, plansIn(units, captures, 'plan'), captures);
  const left = new Set(
    [...deferred.keys()].flatMap((unit) => {
      const name = planName(context.job, unit);
      return [name, `${name}${valuesEnding}`];
    }),
  );
  return packFiles(new Map([...unpackFiles(saved)].filter(([path]) => !left.has(path))));
}

/** The units that have a plan in what was saved or approved. */
export function unitsWithPlan(context: DriverContext, packed: Uint8Array | undefined): TerragruntUnit[] {
  const paths = new Set(packed === undefined ? [] : unpackFiles(packed).keys());
  return unitsOf(context).filter(({ path }) => paths.has(planName(context.job, path)));
}

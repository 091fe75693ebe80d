/**
 * Units whose plans an apply must not carry out, because they were made with outputs that the units which they need
 * do not have, or will not have after the same apply: with mocks, or with values that are about to change.
 */
import { posix } from 'node:path';
import type { TerraformPlan } from '../terraform/plan-json.ts';
import type { ParsedFiles } from './backends.ts';
import { textsBetween } from './texts-between.ts';
import { levelsOf, type TerragruntUnit } from './units.ts';
import type { MissingOutputs } from './unplanned-units.ts';
import { usedOutputs } from './used-outputs.ts';

type Staleness = 'mocks' | 'changes' | null;

function stalenessOf(plan: TerraformPlan, outputs: readonly string[] | null): Staleness {
  const prior = plan.prior_state?.values?.outputs ?? {};
  const changes = plan.output_changes ?? {};
  const names = outputs ?? [...new Set([...Object.keys(prior), ...Object.keys(changes)])];
  if (names.some((name) => !Object.hasOwn(prior, name))) return 'mocks';
  const isChanged = (name: string) =>
    Object.hasOwn(changes, name) && changes[name]?.actions.some((action) => action !== 'no-op') === true;
  return names.some(isChanged) ? 'changes' : null;
}

/** Plans of one run. */
export interface PlannedUnits {
  readonly units: readonly TerragruntUnit[];
  readonly plans: ReadonlyMap<string, TerraformPlan>;
  readonly parsed: ParsedFiles;
  /** By unit: those whose mock outputs terragrunt says that it has used. */
  readonly mocked: ReadonlyMap<string, readonly string[]>;
  /** The units without a plan, with the outputs that they lack. */
  readonly unplanned: ReadonlyMap<string, MissingOutputs>;
}

function isChanging({ resource_changes = [], output_changes = {} }: TerraformPlan): boolean {
  const all = [...resource_changes.map(({ change }) => change), ...Object.values(output_changes)];
  return all.some(({ actions }) => actions.some((action) => action !== 'no-op' && action !== 'read'));
}

/** Why a unit has no plan. @throws Error if another deployment of these units would not change that */
function missingReason(
  { path, dependencies }: TerragruntUnit,
  { of, names }: MissingOutputs,
  planned: PlannedUnits,
): string {
  const { plans } = planned;
  const unhelpful = of.filter((each) => {
    const plan = plans.get(each);
    return plan !== undefined && !isChanging(plan);
  });
  if (unhelpful.length > 0)
    throw new Error(
      `Unit ${path} uses outputs of ${unhelpful.join(', ')}, which has none and creates none: add them to its module, or use a dependencies block if only the order matters`,
    );
  const isComing = (name: string) =>
    dependencies.some((each) => {
      const plan = plans.get(each);
      return plan === undefined
        ? planned.unplanned.has(each)
        : Object.hasOwn(plan.output_changes ?? {}, name);
    });
  const unknown = names.filter((name) => !isComing(name));
  if (unknown.length > 0)
    throw new Error(
      `Unit ${path} uses ${unknown.map((name) => JSON.stringify(name)).join(', ')}, which is an output of none of the units that it needs (${dependencies.join(', ')}), and not an attribute of another value of its configuration either`,
    );
  const outputs = names.length === 0 ? 'outputs' : `the outputs ${names.join(', ')}`;
  const providers = of.length > 0 ? of : dependencies;
  return `it needs ${outputs} of ${providers.join(', ')}, which do not exist yet`;
}

/** A unit that an apply leaves out. */
export interface Deferred {
  /** Why, as a clause. */
  readonly reason: string;
  /** Whether the same apply creates what it waits for, or another unit that follows does. */
  readonly follows: boolean;
}

/** Why a unit waits, and for which others. */
interface Wait {
  readonly reason: string;
  readonly needs: readonly string[];
}

function waitOf(
  unit: TerragruntUnit,
  planned: PlannedUnits,
  deferred: ReadonlyMap<string, Deferred>,
): Wait | null {
  const { plans, parsed, mocked, unplanned } = planned;
  const missing = unplanned.get(unit.path);
  if (missing !== undefined && missing.of.length + missing.names.length > 0) {
    const creating = unit.dependencies.filter((path) => plans.has(path) || deferred.has(path));
    const needs = missing.of.length > 0 ? missing.of : creating;
    return { reason: missingReason(unit, missing, planned), needs };
  }
  const stale = usedOutputs(unit, parsed).map((each) => {
    const plan = plans.get(each.unit);
    return [each.unit, plan === undefined ? null : stalenessOf(plan, each.outputs)] as const;
  });
  const only = (kind: Staleness) => stale.filter(([, found]) => found === kind).map(([path]) => path);
  const mocks = [...new Set([...(mocked.get(unit.path) ?? []), ...only('mocks')])];
  if (mocks.length > 0)
    return { reason: `it was planned with mock outputs of ${mocks.join(', ')}`, needs: mocks };
  const changing = [...new Set(only('changes'))];
  if (changing.length > 0)
    return {
      reason: `it was planned with outputs of ${changing.join(', ')} that this deployment changes`,
      needs: changing,
    };
  const waiting = unit.dependencies.filter((path) => {
    const plan = plans.get(path);
    return deferred.has(path) && (plan === undefined || isChanging(plan));
  });
  if (waiting.length === 0) return null;
  return { reason: `it needs ${waiting.join(', ')}, which this deployment does not apply`, needs: waiting };
}

/** Whether all units that one waits for are changed by the apply, or follow it. */
function isFollowing(
  { needs }: Wait,
  { plans }: PlannedUnits,
  deferred: ReadonlyMap<string, Deferred>,
): boolean {
  return needs.every((path) => {
    const waiting = deferred.get(path);
    if (waiting !== undefined) return waiting.follows;
    const plan = plans.get(path);
    return plan !== undefined && isChanging(plan);
  });
}

/**
 * The units that are not applied, in their order; without an entry: they are.
 * @throws Error for a unit that uses outputs which no deployment creates
 */
export function deferredUnits(planned: PlannedUnits): Map<string, Deferred> {
  const deferred = new Map<string, Deferred>();
  for (const level of levelsOf(planned.units))
    for (const unit of level) {
      if (!planned.plans.has(unit.path) && !planned.unplanned.has(unit.path)) continue;
      const wait = waitOf(unit, planned, deferred);
      if (wait === null) continue;
      deferred.set(unit.path, { reason: wait.reason, follows: isFollowing(wait, planned, deferred) });
    }
  return deferred;
}

/**
 * The files of the unit without outputs and of the one that uses its mocks, of the line in which terragrunt says so; null
 * for another line.
 */
export function filesOfMock(line: string): { readonly from: string; readonly to: string } | null {
  const [, from = '', to = ''] =
    textsBetween(
      line,
      'Config ',
      ' is a dependency of ',
      ' that has no outputs, but mock outputs provided',
    ) ?? [];
  return from === '' || to === '' ? null : { from, to };
}

/** The units that terragrunt says to have planned with mocks, and whose mocks these are. */
export function mockedUnits(
  lines: Uint8Array | undefined,
  units: readonly TerragruntUnit[],
  configurationFolder: string,
): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const line of new TextDecoder().decode(lines).split('\n')) {
    const files = filesOfMock(line);
    if (files === null) continue;
    const pathOf = (file: string) => posix.relative(configurationFolder, posix.dirname(file)) || '.';
    const path = pathOf(files.to);
    // A path with links is another one for terragrunt: all units wait rather than one of them be wrong.
    const affected = units.some((unit) => unit.path === path) ? [path] : units.map((unit) => unit.path);
    for (const each of affected)
      found.set(each, [...new Set([...(found.get(each) ?? []), pathOf(files.from)])]);
  }
  return found;
}

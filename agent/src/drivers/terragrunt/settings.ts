/** Settings of a run of terragrunt: which units, which binary, whose states. */
import { posix } from 'node:path';
import { normalizePath } from '#guards/source-guards.ts';
import type { Job } from '#protocol/messages/job.ts';
import { runEnvironment } from '#protocol/run-environment.ts';
import { binaryOf } from '#protocol/tools/terragrunt.ts';
import { includedFolders } from '#protocol/tools/terragrunt-variables.ts';
import type { DriverContext } from '../interface/driver.ts';
import { type FileRules, terraformFiles, tofuFiles } from '../terraform/code/files.ts';
import { targetsOf } from '../terraform/commands.ts';
import { readUnits, type TerragruntUnit } from './units.ts';

/** Under which `inspect` captures the list of the units. */
export const unitsCapture = 'units.json';
/** Replacement for an incomplete list: all units, without what they need. */
export const everyUnitCapture = 'every-unit.json';
export const cycleLines = 'cycle-lines';

export function isRunAll({ settings }: Pick<Job, 'settings'>): boolean {
  return settings?.isTerragruntRunAll === true;
}

export function usesTofu({ settings }: Pick<Job, 'settings'>): boolean {
  return binaryOf(settings) === 'opentofu';
}

export function rulesOf(job: Pick<Job, 'settings'>): FileRules {
  return usesTofu(job) ? tofuFiles : terraformFiles;
}

/** The name of the program that the units use. */
export function binaryName(job: Pick<Job, 'settings'>): string {
  return usesTofu(job) ? 'tofu' : 'terraform';
}

function isWithin(unit: string, pattern: string): boolean {
  return posix.matchesGlob(unit, pattern) || posix.matchesGlob(unit, `${pattern}/**`);
}

/** The unit that a target is in, if it names one: `unit/address`. */
function unitOfTarget(target: string, units: readonly TerragruntUnit[]): TerragruntUnit | undefined {
  const named = units.filter(({ path }) => target.startsWith(`${path}/`));
  return named.toSorted((one, other) => other.path.length - one.path.length)[0];
}

/** The resource addresses that targets name, without their units. */
export function addressesOf(context: DriverContext): string[] {
  const units = allUnits(context);
  return targetsOf(context).map((target) => {
    const unit = isRunAll(context.job) ? unitOfTarget(target, units) : undefined;
    return unit === undefined ? target : target.slice(unit.path.length + 1);
  });
}

/** The units that a run works on, and those that they may need the outputs of. */
export function allUnits({ job, inspected }: Pick<DriverContext, 'job' | 'inspected'>): TerragruntUnit[] {
  const units = readUnits(inspected?.get(unitsCapture) ?? Buffer.from('[]'), job.secrets);
  return isRunAll(job) ? units : units.filter(({ path }) => path === '.');
}

/** Units that terragrunt leaves out, because they need each other, or others that do. */
export function unitsInCycles(context: Pick<DriverContext, 'job' | 'inspected'>): string[] {
  const everything = context.inspected?.get(everyUnitCapture);
  if (everything === undefined) return [];
  const { secrets } = context.job;
  const known = new Set(
    readUnits(context.inspected?.get(unitsCapture) ?? Buffer.from('[]'), secrets).map(({ path }) => path),
  );
  return readUnits(everything, secrets).flatMap(({ path }) => (known.has(path) ? [] : [path]));
}

/** The units that a run works on: after the first level of a deployment those that it still has to plan. */
export function unitsOf(context: Pick<DriverContext, 'job' | 'inspected'>): TerragruntUnit[] {
  const { job } = context;
  const units = allUnits(context);
  if (!isRunAll(job)) return units;
  const folders = includedFolders(runEnvironment(job));
  const { level } = job;
  if (level !== undefined && level.number > 1) return units.filter(({ path }) => level.units.includes(path));
  const included = units.filter(
    ({ path }) => folders.length === 0 || folders.some((folder) => isWithin(path, folder)),
  );
  const targeted = targetsOf(context as DriverContext).map((target) => unitOfTarget(target, units)?.path);
  if (targeted.length === 0 || targeted.includes(undefined)) return included;
  return included.filter(({ path }) => targeted.includes(path));
}

/** The units that a run works on, and those that earlier levels of the deployment have applied. */
export function unitsSoFar(context: Pick<DriverContext, 'job' | 'inspected'>): TerragruntUnit[] {
  const { done = [] } = context.job.level ?? {};
  return [...unitsOf(context), ...allUnits(context).filter(({ path }) => done.includes(path))];
}

/** Whether a path from the configuration's folder leads out of the repository. */
export function isOutside({ source }: Pick<Job, 'source'>, path: string): boolean {
  return /^\.\.(\/|$)/.test(posix.join(normalizePath(source.path ?? ''), path)) || posix.isAbsolute(path);
}

/** The file of a unit's plan below the folder of the plans. */
export function planName(job: Job, unit: string): string {
  if (!isRunAll(job)) return 'plan';
  return posix.join(unit, 'tfplan.tfplan');
}

/** Names of things of single units in plans, events and versions of the run that works on all of them. */
import type { PlannedUnit } from './plan.ts';

/** The address of something of a unit, as plans and events of a run show it. */
export function unitAddress(unit: string, address: string): string {
  return unit === '.' ? address : `${unit}/${address}`;
}

/** The module of something of a unit. */
export function unitModule(unit: string, module: string): string {
  if (unit === '.') return module;
  return module === '' ? unit : `${unit}/${module}`;
}

/** The versions that units were planned with, as those of their run: modules are named with their unit. */
export function versionsOfUnits(
  units: readonly Pick<PlannedUnit, 'unit' | 'providerVersions' | 'moduleVersions'>[],
): Required<Pick<PlannedUnit, 'providerVersions' | 'moduleVersions'>> {
  const providers = units.flatMap(({ providerVersions = {} }) => Object.entries(providerVersions));
  const modules = units.flatMap(({ unit, moduleVersions = {} }) =>
    Object.entries(moduleVersions).map(([name, version]) => [unitModule(unit, name), version] as const),
  );
  return { providerVersions: Object.fromEntries(providers), moduleVersions: Object.fromEntries(modules) };
}

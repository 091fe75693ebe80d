/** The units of a run, as `terragrunt find` lists them. */
import { posix } from 'node:path';
import { isRecord } from '#contract/schema/is-record.ts';
import { cutMasked, type Secrets } from '../../logs/mask.ts';

const longestShown = 200;

export interface TerragruntUnit {
  /** From the configuration's folder; `.` for that folder itself. */
  readonly path: string;
  /** Paths of the units that it needs first, also of those outside of the configuration's folder. */
  readonly dependencies: readonly string[];
  /** Files that its configuration reads, from the configuration's folder. */
  readonly reading: readonly string[];
}

function textsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}

function unitOf(value: unknown): TerragruntUnit | null {
  if (!isRecord(value) || value['type'] !== 'unit' || typeof value['path'] !== 'string') return null;
  const included = isRecord(value['include']) ? textsIn(Object.values(value['include'])) : [];
  return {
    path: posix.normalize(value['path']),
    dependencies: textsIn(value['dependencies']).map((path) => posix.normalize(path)),
    reading: [...new Set([...included, ...textsIn(value['reading'])].map((path) => posix.normalize(path)))],
  };
}

/**
 * Reads the output of `terragrunt find --json`.
 * @throws Error if it is something else
 */
export function readUnits(output: Uint8Array, secrets: Secrets): TerragruntUnit[] {
  return listIn(output, secrets)
    .flatMap((each) => unitOf(each) ?? [])
    .sort((one, other) => (one.path < other.path ? -1 : 1));
}

function listIn(output: Uint8Array, secrets: Secrets): unknown[] {
  const text = new TextDecoder().decode(output).trim();
  let found: unknown;
  try {
    found = text === '' ? [] : JSON.parse(text);
  } catch (cause) {
    const shown = cutMasked(text, longestShown, secrets);
    throw new Error(`terragrunt find printed something that is not JSON: ${shown}`, { cause });
  }
  if (!Array.isArray(found)) throw new Error('terragrunt find printed no list of units');
  return found;
}

/** Whether the output of `terragrunt find --json` has stacks, which generate units. */
export function hasStacks(output: Uint8Array | undefined, secrets: Secrets): boolean {
  if (output === undefined) return false;
  return listIn(output, secrets).some((each) => isRecord(each) && each['type'] === 'stack');
}

/** Units that need each other, as a path that ends where it begins; null without any. */
function cycleFrom(
  unit: TerragruntUnit,
  all: ReadonlyMap<string, TerragruntUnit>,
  above: readonly string[],
): string[] | null {
  const start = above.indexOf(unit.path);
  if (start !== -1) return [...above.slice(start), unit.path];
  for (const path of unit.dependencies) {
    const next = all.get(path);
    const cycle = next === undefined ? null : cycleFrom(next, all, [...above, unit.path]);
    if (cycle !== null) return cycle;
  }
  return null;
}

/**
 * The units in the order in which they can be applied: those of one list need only units of the lists before it.
 * @throws Error that names units that need each other
 */
export function levelsOf(units: readonly TerragruntUnit[]): TerragruntUnit[][] {
  const all = new Map(units.map((unit) => [unit.path, unit]));
  const levels: TerragruntUnit[][] = [];
  let left = [...units];
  const placed = new Set<string>();
  while (left.length > 0) {
    const ready = left.filter(({ dependencies }) =>
      dependencies.every((path) => placed.has(path) || !all.has(path)),
    );
    if (ready.length === 0) {
      // Without those that are placed, every way leads into a cycle.
      const open = new Map(left.map((unit) => [unit.path, unit]));
      const cycle = left.map((unit) => cycleFrom(unit, open, [])).find((each) => each !== null) ?? [];
      throw new Error(
        `Units depend on each other: ${cycle.join(' → ')}. Remove one of these dependencies from its terragrunt.hcl`,
      );
    }
    levels.push(ready);
    for (const { path } of ready) placed.add(path);
    left = left.filter((unit) => !ready.includes(unit));
  }
  return levels;
}

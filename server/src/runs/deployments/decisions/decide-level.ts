/**
 * The levels of a deployment: its first plan, and those of units that are planned once others are applied. Pure.
 *
 * A person confirms kinds and numbers of changes, by unit. The plan of a later level is within that if each of its units
 * makes at most as many changes of each kind, with the code, programs, providers and variables that were approved. What is lost is
 * confirmed object by object, and numbers do not say which: a plan that destroys, replaces or forgets is never within.
 */
import { isDeepStrictEqual } from 'node:util';
import type { ChangeKind } from '#contract/deployments/change-kinds.ts';
import type { PlannedUnit } from '#contract/deployments/plan.ts';
import type { ApprovedParts, Job } from '#protocol/messages/job.ts';

export type Level = NonNullable<Job['level']>;

/** The number of the level that a deployment is at. @param level null: the first one */
export function levelNumber(level: Level | null): number {
  return level?.number ?? 1;
}

/** The programs of a plan, which later levels use, whatever is the newest version by then. */
function programsOf(parts: ApprovedParts | null): Pick<Level, 'toolVersion' | 'companions'> {
  if (parts === null) return {};
  const { toolVersion, companions } = parts;
  return { toolVersion, ...(companions === undefined ? {} : { companions }) };
}

/**
 * The level that follows an apply.
 * @param units what the applied plan was about
 * @param parts of that plan; null: they are not known
 * @returns null if nothing follows
 */
export function nextLevel(
  level: Level | null,
  units: readonly PlannedUnit[] | null,
  parts: ApprovedParts | null = null,
): Level | null {
  const following = (units ?? []).filter(({ follows }) => follows === true).map(({ unit }) => unit);
  const left = level === null ? following : following.filter((unit) => level.units.includes(unit));
  // Each level applies something, so that there is a last one.
  if (left.length === 0 || left.length === level?.units.length) return null;
  const applied = (units ?? []).flatMap(({ unit, reason }) => (reason === undefined ? [unit] : []));
  const done = [...(level?.done ?? []), ...applied];
  return { number: levelNumber(level) + 1, units: left, done, ...programsOf(parts) };
}

/** A plan, as far as it is compared with another one. */
export interface LevelPlan {
  readonly units: readonly PlannedUnit[];
  readonly parts: ApprovedParts | null;
}

/** Kinds whose objects are lost. Names of changes begin with their kind, as in `destroy aws_vpc`. */
const losing: readonly ChangeKind[] = ['destroy', 'replace', 'forget'];

/** Programs and inputs of a unit's plan. */
function versionsOf({ providerVersions = {}, moduleVersions = {} }: PlannedUnit) {
  return [...Object.entries(providerVersions), ...Object.entries(moduleVersions)];
}

function versionsBeyond(planned: PlannedUnit, known: PlannedUnit): string[] {
  const approved = new Map(versionsOf(known));
  return versionsOf(planned).flatMap(([name, version]) => {
    const other = approved.get(name);
    if (other === version) return [];
    const text = other === undefined ? `${version}, new` : `${version}, approved was ${other}`;
    return [`${planned.unit}: the version of ${name} (${text})`];
  });
}

function unitBeyond(planned: PlannedUnit, confirmed: readonly PlannedUnit[]): string[] {
  const { unit, changes = {} } = planned;
  const known = confirmed.find((each) => each.unit === unit);
  const counts = Object.entries(changes).flatMap(([kind, count]) => {
    const approved = known?.changes?.[kind] ?? 0;
    if (count > approved) return [`${unit}: ${kind} (${count}, approved were ${approved})`];
    const isLosing = count > 0 && losing.some((each) => kind.startsWith(`${each} `));
    return isLosing ? [`${unit}: ${kind} (${count}, which are confirmed one by one)`] : [];
  });
  // If no plan was approved, each change is beyond it, whatever its cause.
  return known?.changes === undefined ? counts : [...counts, ...versionsBeyond(planned, known)];
}

const sameParts = {
  commit: 'the commit',
  toolVersion: 'the version of the tool',
  companions: 'the versions of the programs that the tool runs',
  lockFile: 'the lock file',
  variables: 'the variables',
} as const satisfies Partial<Record<keyof ApprovedParts, string>>;

/**
 * @param confirmed the last plan that a person has approved; null: there is none
 * @returns what a plan applies beyond that, in words; empty: it is within
 */
export function beyondConfirmed(plan: LevelPlan, confirmed: LevelPlan | null): string[] {
  if (confirmed === null) return ['no plan of this deployment was approved'];
  const names = Object.keys(sameParts) as (keyof typeof sameParts)[];
  const parts = names.filter((name) => !isDeepStrictEqual(plan.parts?.[name], confirmed.parts?.[name]));
  const applied = plan.units.filter(({ reason }) => reason === undefined);
  return [
    ...parts.map((name) => sameParts[name]),
    ...applied.flatMap((unit) => unitBeyond(unit, confirmed.units)),
    ...(plan.units.length === 0 ? ['its units are unknown: update the agent'] : []),
  ];
}

/** Compares what an update or a destroy is about to do with what was approved. */
import { isDeepStrictEqual } from 'node:util';
import { parseExactly } from '#contract/schema/exact-json.ts';
import { isRecord } from '#contract/schema/is-record.ts';
import { isSecretValue } from '#protocol/tools/pulumi/state.ts';
import { readEvents, urnParts } from './events.ts';

/** As much of Pulumi's plan of an update as is compared. */
interface UpdatePlan {
  readonly resourcePlans?: Readonly<Record<string, ResourcePlan>>;
}
export interface ResourcePlan {
  /** Null: the resource is deleted. */
  readonly goal?: { readonly inputDiff?: InputDiff } | null;
  readonly steps?: readonly string[] | null;
}
interface InputDiff {
  readonly adds?: Readonly<Record<string, unknown>>;
  readonly updates?: Readonly<Record<string, unknown>>;
  readonly deletes?: readonly string[];
}

const shownDifferences = 10;

const notRepeated = 'the preview before the change reported nothing that could be compared';

/** Pulumi's plan of an update, by URN. @returns null if there is none */
export function planOf(bytes: Uint8Array | undefined): Readonly<Record<string, ResourcePlan>> | null {
  if (bytes === undefined) return null;
  try {
    return (parseExactly(new TextDecoder().decode(bytes)) as UpdatePlan).resourcePlans ?? {};
  } catch {
    return null;
  }
}

/** Generated names end with random digits, which the update takes from the approved plan. */
function isSameText(one: string, other: string, name: string): boolean {
  if (one === other) return true;
  const tail = /^-?[0-9a-f]{6,8}$/;
  return (
    one.startsWith(name) &&
    other.startsWith(name) &&
    tail.test(one.slice(name.length)) &&
    tail.test(other.slice(name.length))
  );
}

/** Whether values are the same, as far as that can be seen: each preview encrypts secrets in another way. */
function isSame(one: unknown, other: unknown, name: string): boolean {
  if (isSecretValue(one) && isSecretValue(other)) return true;
  if (typeof one === 'string' && typeof other === 'string') return isSameText(one, other, name);
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((part, at) => isSame(part, other[at], name));
  if (!isRecord(one) || !isRecord(other)) return isDeepStrictEqual(one, other);
  const keys = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...keys].every((key) => isSame(one[key], other[key], name));
}

/** The names of inputs that two plans change otherwise. */
function differingInputs(approved: ResourcePlan, now: ResourcePlan, name: string): string[] {
  const [one, other] = [approved.goal?.inputDiff ?? {}, now.goal?.inputDiff ?? {}];
  const changes = (diff: InputDiff) => ({
    ...diff.adds,
    ...diff.updates,
    ...Object.fromEntries((diff.deletes ?? []).map((key) => [key, null])),
  });
  const [left, right]: Record<string, unknown>[] = [changes(one), changes(other)];
  const keys = [...new Set([...Object.keys(left ?? {}), ...Object.keys(right ?? {})])].sort();
  return keys.filter((key) => !isSame(left?.[key], right?.[key], name));
}

function inWords(steps: readonly string[]): string {
  return steps.join(' and ');
}

function differenceOf(urn: string, approved: ResourcePlan | undefined, now: ResourcePlan): string | null {
  const steps = (now.steps ?? []).filter((step) => step !== 'same');
  if (steps.length === 0) return null;
  const { name } = urnParts(urn);
  const before = (approved?.steps ?? []).filter((step) => step !== 'same');
  if (approved === undefined || before.length === 0)
    return `${inWords(steps)} of ${urn}, which was not in the approved preview`;
  if (!isDeepStrictEqual(before, steps)) return `${inWords(steps)} of ${urn} instead of ${inWords(before)}`;
  const inputs = differingInputs(approved, now, name);
  return inputs.length === 0 ? null : `other inputs of ${urn}: ${inputs.join(', ')}`;
}

export function listed(differences: readonly string[]): string | null {
  if (differences.length === 0) return null;
  const more = differences.length - shownDifferences;
  return [...differences.slice(0, shownDifferences), ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
}

/**
 * @param approved Pulumi's plan of the update, as it was approved
 * @param now the plan of the same update, made again
 * @returns what it would do that the approved one did not; null: nothing
 */
export function updateDifference(
  approved: Uint8Array | undefined,
  now: Uint8Array | undefined,
): string | null {
  const [plans, again] = [planOf(approved), planOf(now)];
  if (plans === null || again === null) return notRepeated;
  return listed(
    Object.entries(again).flatMap(
      ([urn, plan]) => differenceOf(urn, Object.hasOwn(plans, urn) ? plans[urn] : undefined, plan) ?? [],
    ),
  );
}

/** @returns null if the preview has not come to its end */
function deletedBy(bytes: Uint8Array | undefined): Set<string> | null {
  const events = readEvents(bytes ?? new Uint8Array());
  if (!events.some(({ summaryEvent }) => summaryEvent !== undefined)) return null;
  const steps = events.flatMap(({ resourcePreEvent }) => resourcePreEvent?.metadata ?? []);
  return new Set(
    steps.filter(({ op }) => op === 'delete').map(({ urn, old }) => `${urn} (${old?.id ?? ''})`),
  );
}

/**
 * @param approved the events of the approved preview of a destroy
 * @param now those of the same, made again
 * @returns what it would delete in addition; null: nothing
 */
export function destroyDifference(
  approved: Uint8Array | undefined,
  now: Uint8Array | undefined,
): string | null {
  const [known, again] = [deletedBy(approved), deletedBy(now)];
  if (known === null || again === null) return notRepeated;
  return listed([...again].filter((deleted) => !known.has(deleted)).map((deleted) => `delete of ${deleted}`));
}

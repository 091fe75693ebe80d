/** Prepares a plan's values for display: replaces values that are sensitive or not yet known. */
import { isRecord } from '#contract/schema/is-record.ts';
import { sensitiveText } from '../interface/plan-values.ts';
import type { TerraformChange, TerraformPlan } from './plan-json.ts';

const unknownText = '(known after apply)';
/** Shorter values are too common to be searched for elsewhere. */
const shortestSensitiveCharacters = 4;

export function inner(mask: unknown, key: string | number): unknown {
  if (mask === true) return true;
  return typeof mask === 'object' && mask !== null
    ? (mask as Record<string | number, unknown>)[key]
    : undefined;
}

function collect(value: unknown, sensitive: unknown, into: Set<string>): void {
  if (sensitive === undefined || sensitive === false) return;
  if (typeof value === 'string' && sensitive === true && value.length >= shortestSensitiveCharacters)
    into.add(value);
  if (typeof value !== 'object' || value === null) return;
  for (const [key, part] of Object.entries(value)) collect(part, inner(sensitive, key), into);
}

function collectPlan(plan: TerraformPlan, into: Set<string>): void {
  const deferred = (plan.deferred_changes ?? []).map(({ resource_change: resource }) => resource);
  const resources = [...(plan.resource_changes ?? []), ...(plan.resource_drift ?? []), ...deferred];
  for (const change of [
    ...resources.map((resource) => resource.change),
    ...Object.values(plan.output_changes ?? {}),
  ]) {
    collect(change.before, change.before_sensitive, into);
    collect(change.after, change.after_sensitive, into);
  }
  const later = (plan.deferred_action_invocations ?? []).map(({ action_invocation: action }) => action);
  for (const { config_values: values, config_sensitive: sensitive } of [
    ...(plan.action_invocations ?? []),
    ...later,
  ])
    collect(values, sensitive, into);
}

/** Texts that the tool marks as sensitive somewhere in the plans. */
export function sensitiveTexts(plans: readonly TerraformPlan[]): ReadonlySet<string> {
  const known = new Set<string>();
  for (const plan of plans) collectPlan(plan, known);
  return known;
}

type Side = 'before' | 'after';

/** Masks one side of an attribute or of a whole value; undefined if there is none. */
export interface AttributeMasker {
  before(change: TerraformChange, name: string): { before?: unknown };
  after(change: TerraformChange, name: string): { after?: unknown };
  wholeBefore(change: TerraformChange): { before?: unknown };
  wholeAfter(change: TerraformChange): { after?: unknown };
}

/**
 * A value that the tool marks as sensitive anywhere is replaced wherever it occurs as a whole:
 * `terraform_data` shows its sensitive input unmarked as its output.
 */
export function attributeMasker(plans: readonly TerraformPlan[]): AttributeMasker {
  const known = sensitiveTexts(plans);

  const show = (value: unknown, sensitive: unknown, unknown: unknown): unknown => {
    if (sensitive === true) return (value ?? null) === null && unknown !== true ? null : sensitiveText;
    if (unknown === true) return unknownText;
    if (typeof value === 'string') return known.has(value) ? sensitiveText : value;
    const hasUnknown = typeof unknown === 'object' && unknown !== null;
    if (Array.isArray(value) || (hasUnknown && Array.isArray(unknown))) {
      const list = Array.isArray(value) ? value : [];
      const length = Math.max(list.length, Array.isArray(unknown) ? unknown.length : 0);
      return Array.from({ length }, (_, at) => show(list[at], inner(sensitive, at), inner(unknown, at)));
    }
    if (!isRecord(value)) return value;
    const keys = new Set([...Object.keys(value), ...(hasUnknown ? Object.keys(unknown) : [])]);
    return Object.fromEntries(
      [...keys].map((key) => [key, show(value[key], inner(sensitive, key), inner(unknown, key))]),
    );
  };

  const side = (which: Side, value: unknown, sensitive: unknown, unknown: unknown) => {
    const shown = show(value, sensitive, unknown);
    return shown === null || shown === undefined ? {} : { [which]: shown };
  };
  return {
    before: ({ before, before_sensitive }, name) =>
      side('before', inner(before, name), inner(before_sensitive, name), undefined),
    after: ({ after, after_sensitive, after_unknown }, name) =>
      side('after', inner(after, name), inner(after_sensitive, name), inner(after_unknown, name)),
    wholeBefore: ({ before, before_sensitive }) => side('before', before, before_sensitive, undefined),
    wholeAfter: ({ after, after_sensitive, after_unknown }) =>
      side('after', after, after_sensitive, after_unknown),
  };
}

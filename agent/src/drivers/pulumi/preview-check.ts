/**
 * Compares what a preview reported with the plan that it saved. People read the one and approve the other, and the
 * program of a run, which works at the same time, can write to the file of events.
 */
import { isDeepStrictEqual } from 'node:util';
import { isRecord } from '#contract/schema/is-record.ts';
import { isManagedType, isMarkedValue, isSecretValue } from '#protocol/tools/pulumi/state.ts';
import { listed, planOf, type ResourcePlan } from './approval.ts';
import { type EngineEvent, type StepMetadata, urnParts } from './events.ts';
import { effectOf } from './plan.ts';

/** Placeholder in texts for secrets that they contain. */
const hiddenText = '[secret]';

/** Whether a reported value can be that of the plan. Where it is hidden, people see that it is. */
function isShown(reported: unknown, planned: unknown): boolean {
  if (isSecretValue(reported) || isSecretValue(planned)) return true;
  if (typeof reported === 'string' && reported.includes(hiddenText)) return true;
  if (Array.isArray(reported) && Array.isArray(planned))
    return (
      reported.length === planned.length && reported.every((part, index) => isShown(part, planned[index]))
    );
  if (!isRecord(reported) || !isRecord(planned)) return isDeepStrictEqual(reported, planned);
  // Files and the like are described in another way.
  if (isMarkedValue(reported) && isMarkedValue(planned)) return true;
  const names = new Set([...Object.keys(reported), ...Object.keys(planned)]);
  return [...names].every((name) => isShown(reported[name], planned[name]));
}

/** The halves of a replacement are one row; a step that is not known is named in its row. */
function whatPeopleSee(op: string): string | undefined {
  const effect = effectOf(op);
  return effect?.kind === 'unknown' ? op : effect?.action;
}

function hiddenOf(
  urn: string,
  { steps, goal }: ResourcePlan,
  reported: readonly StepMetadata[],
): string | null {
  if (!isManagedType(urnParts(urn).type)) return null;
  const shown = new Set(reported.map(({ op }) => whatPeopleSee(op)));
  const missing = (steps ?? []).filter((step) => effectOf(step) !== null && !shown.has(whatPeopleSee(step)));
  if (missing.length > 0) return `${missing.join(' and ')} of ${urn}`;
  const inputs = reported.findLast(({ new: wanted }) => wanted !== null)?.new?.inputs ?? {};
  const { adds = {}, updates = {} } = goal?.inputDiff ?? {};
  const others = Object.entries({ ...adds, ...updates })
    .filter(([name, value]) => !isShown(inputs[name], value))
    .map(([name]) => name);
  return others.length === 0 ? null : `${others.join(', ')} of ${urn}`;
}

/**
 * @param saved Pulumi's plan, as it was saved
 * @param events that the same preview has reported
 * @returns what the plan has and the events lack; null: nothing
 */
export function hiddenInPreview(saved: Uint8Array, events: readonly EngineEvent[]): string | null {
  const plans = planOf(saved);
  if (plans === null) return 'it cannot be read';
  const reported = new Map<string, StepMetadata[]>();
  for (const { resourcePreEvent } of events) {
    if (resourcePreEvent === undefined || effectOf(resourcePreEvent.metadata.op) === null) continue;
    const { metadata } = resourcePreEvent;
    reported.set(metadata.urn, [...(reported.get(metadata.urn) ?? []), metadata]);
  }
  return listed(
    Object.entries(plans).flatMap(([urn, plan]) => hiddenOf(urn, plan, reported.get(urn) ?? []) ?? []),
  );
}

/** The changes of a plan as lines for people. */

import type { ChangeKind } from '#contract/deployments/change-kinds.ts';
import type { Plan, ResourceChange } from '#contract/deployments/plan.ts';
import { countsOf, countsText, kindOf } from '#contract/deployments/plan-counts.ts';

const signs: Readonly<Record<ChangeKind, string>> = {
  destroy: '-',
  replace: '-/+',
  forget: '.',
  update: '~',
  create: '+',
  import: '&',
  move: '>',
  invoke: '!',
  unknown: '?',
  defer: '…',
  note: '~',
};

const longestValue = 120;

function valueInWords(value: unknown): string {
  const text = value === undefined ? '(none)' : typeof value === 'string' ? value : JSON.stringify(value);
  const line = text.replaceAll(/\s+/g, ' ');
  return line.length > longestValue ? `${line.slice(0, longestValue)}…` : line;
}

function changeInWords(change: ResourceChange): string[] {
  const { action, path, attributes, actionReason } = change;
  const reason = actionReason === undefined ? '' : ` (${actionReason})`;
  const heading = `${signs[kindOf(change)]} ${path}${reason}`;
  if (action !== 'update' && action !== 'recreate') return [heading];
  const fields = attributes.map(
    ({ name, before, after }) => `    ${name}: ${valueInWords(before)} → ${valueInWords(after)}`,
  );
  return [heading, ...fields];
}

/** @param plan with sensitive values replaced */
export function planInWords({ resourceChanges }: Plan): string {
  if (resourceChanges.length === 0) return 'No changes.';
  const counts = countsOf(resourceChanges);
  const summary = `Plan: ${countsText(counts, 'toDo') || 'no resource changes'}.`;
  const stays = counts.forget === 0 ? '' : ' Forgotten resources stay as they are.';
  return [...resourceChanges.flatMap(changeInWords), '', `${summary}${stays}`].join('\n');
}

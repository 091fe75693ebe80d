/** The changes of a plan as lines for people. */
import type { Plan, ResourceChange } from '#contract/deployments/plan.ts';

const signs: Readonly<Record<ResourceChange['action'], string>> = {
  create: '+',
  update: '~',
  delete: '-',
  recreate: '-/+',
  metadata: '~',
};

const longestValue = 120;

function valueInWords(value: unknown): string {
  const text = value === undefined ? '(none)' : typeof value === 'string' ? value : JSON.stringify(value);
  const line = text.replaceAll(/\s+/g, ' ');
  return line.length > longestValue ? `${line.slice(0, longestValue)}…` : line;
}

function changeInWords({ action, path, attributes, actionReason }: ResourceChange): string[] {
  const reason = actionReason === undefined ? '' : ` (${actionReason})`;
  const heading = `${signs[action]} ${path}${reason}`;
  if (action !== 'update' && action !== 'recreate') return [heading];
  const fields = attributes.map(
    ({ name, before, after }) => `    ${name}: ${valueInWords(before)} → ${valueInWords(after)}`,
  );
  return [heading, ...fields];
}

/** @param plan with sensitive values replaced */
export function planInWords({ resourceChanges }: Plan): string {
  if (resourceChanges.length === 0) return 'No changes.';
  const of = (...actions: ResourceChange['action'][]) =>
    resourceChanges.filter(({ action }) => actions.includes(action)).length;
  const counts = `${of('create')} to create, ${of('update', 'metadata', 'recreate')} to change, ${of('delete')} to delete`;
  return [...resourceChanges.flatMap(changeInWords), '', `Plan: ${counts}.`].join('\n');
}

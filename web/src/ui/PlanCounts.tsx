/** How much a plan creates, changes and destroys, as signs with their words. */
import type { PlanSummary } from '#contract/deployments/plan.ts';
import classes from './PlanCounts.module.css';

const kinds = [
  ['destroyed', '−', 'to destroy', 'destroyed'],
  ['changed', '~', 'to change', 'changed'],
  ['added', '+', 'to create', 'created'],
  ['imported', '↓', 'to import', 'imported'],
] as const;

/** @returns such as "2 to destroy, 1 to create" */
export function planWords(summary: PlanSummary): string {
  const parts = kinds.flatMap(([key, , words]) => (summary[key] ? [`${summary[key]} ${words}`] : []));
  return parts.length === 0 ? 'no changes' : parts.join(', ');
}

export interface PlanCountsProps {
  readonly summary: PlanSummary;
  /** Whether the plan has been applied. */
  readonly isDone?: boolean;
}

export function PlanCounts({ summary, isDone = false }: PlanCountsProps) {
  const parts = kinds.filter(([key]) => summary[key]);
  if (parts.length === 0) return <span>no changes</span>;
  return (
    <span className={classes.counts}>
      {parts.map(([key, sign, words, doneWords]) => (
        <span key={key} data-kind={key}>
          <span aria-hidden="true">{sign}</span>
          {summary[key]} {isDone ? doneWords : words}
        </span>
      ))}
    </span>
  );
}

/** Number of changes of each kind in a plan, as signs with their words. */
import { type ChangeKind, changeKinds } from '#contract/deployments/change-kinds.ts';
import type { PlanSummary } from '#contract/deployments/plan.ts';
import { countsOfSummary, kindWords, planText } from '#contract/deployments/plan-counts.ts';
import classes from './PlanCounts.module.css';

const signs: Readonly<Record<ChangeKind, string>> = {
  destroy: '−',
  replace: '±',
  forget: '×',
  update: '~',
  create: '+',
  import: '↓',
  move: '→',
  invoke: '▸',
  unknown: '?',
  defer: '…',
  note: '•',
};

export interface PlanCountsProps {
  readonly summary: PlanSummary;
  /** As the service says. */
  readonly isPlanEmpty: boolean | undefined;
  /** Whether the plan has been applied. */
  readonly isDone?: boolean;
}

export function PlanCounts({ summary, isPlanEmpty, isDone = false }: PlanCountsProps) {
  const counts = countsOfSummary(summary);
  const kinds = changeKinds.filter((kind) => counts[kind] > 0);
  if (kinds.length === 0) return <span>{planText({ planSummary: summary, isPlanEmpty })}</span>;
  return (
    <span className={classes.counts}>
      {kinds.map((kind) => (
        <span key={kind} data-kind={kind}>
          <span aria-hidden="true">{signs[kind]}</span>
          {counts[kind]} {kindWords[kind][isDone ? 'done' : 'toDo']}
        </span>
      ))}
    </span>
  );
}

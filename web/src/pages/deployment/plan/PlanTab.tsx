/** The plan of a deployment, whatever the tool: what can be lost first. */
import { Button } from '@mantine/core';
import { useLocation, useNavigate } from '@tanstack/react-router';
import { useCallback, useMemo } from 'react';
import type { Plan } from '#contract/deployments/plan.ts';
import { countsOf } from '#contract/deployments/plan-counts.ts';
import { AttributeRow } from './AttributeRow.tsx';
import { PlanFilters } from './PlanFilters.tsx';
import classes from './plan.module.css';
import { ResourceList } from './ResourceList.tsx';
import { filterRows, type PlanRow, rowsOf } from './rows.ts';
import { usePlanFilter } from './use-plan-filter.ts';
import { type PlanFacts, withoutRowsText } from './without-rows.ts';

const sidesOf = { create: 'after', delete: 'before' } as const;

/** Changes of a plan to the outputs. */
function OutputChanges({ changes }: { readonly changes: Plan['outputChanges'] }) {
  if (changes.length === 0) return null;
  return (
    <section aria-labelledby="output-changes">
      <h2 id="output-changes" className={classes.heading}>
        Outputs
      </h2>
      <div className={classes.attributes} role="list" aria-label="Outputs that change">
        {changes.map(({ name, moduleName = '', action, attributes }) => (
          <AttributeRow
            key={`${moduleName} ${name}`}
            attribute={{ ...attributes[0], name: moduleName === '' ? name : `${moduleName} · ${name}` }}
            sides={sidesOf[action as keyof typeof sidesOf] ?? 'both'}
          />
        ))}
      </div>
    </section>
  );
}

/** The address that a link names, and a function that names another one. */
function useNamed(): [string | undefined, (row: PlanRow) => void] {
  const hash = useLocation({ select: ({ hash }) => hash });
  const navigate = useNavigate();
  const name = useCallback(
    ({ change }: PlanRow) =>
      void navigate({
        to: '.',
        search: true as never,
        hash: encodeURIComponent(change.path),
        replace: true,
        resetScroll: false,
        hashScrollIntoView: false,
      }),
    [navigate],
  );
  return [hash === '' ? undefined : decodeHash(hash), name];
}

function decodeHash(hash: string): string {
  try {
    return decodeURIComponent(hash);
  } catch {
    return hash;
  }
}

function Settled({ plan }: { readonly plan: Plan }) {
  const rows = useMemo(() => rowsOf(plan.settled ?? []), [plan]);
  const [namedPath, name] = useNamed();
  if (rows.length === 0) return null;
  return (
    <section aria-labelledby="settled">
      <h2 id="settled" className={classes.heading}>
        Read differently, not changed
      </h2>
      <p className={classes.hint}>
        The cloud has these values now, and the plan would not change them, such as what a provider computes
        after an apply. This is not drift; the next apply stores it in the state.
      </p>
      <ResourceList label="Settled differences" all={rows} rows={rows} namedPath={namedPath} onName={name} />
    </section>
  );
}

export interface PlanTabProps extends PlanFacts {
  readonly plan: Plan;
}

export function PlanTab({ plan, isPlanEmpty, isWithoutDrift }: PlanTabProps) {
  const rows = useMemo(() => rowsOf(plan.resourceChanges), [plan]);
  const counts = useMemo(() => countsOf(plan.resourceChanges), [plan]);
  const state = usePlanFilter();
  const shown = useMemo(() => filterRows(rows, state.filter), [rows, state.filter]);
  const [namedPath, name] = useNamed();
  const hasRows = rows.length > 0 || plan.outputChanges.length > 0;
  return (
    <div className={classes.plan}>
      {!hasRows && <p className={classes.empty}>{withoutRowsText({ isPlanEmpty, isWithoutDrift })}</p>}
      {rows.length > 0 && <PlanFilters rows={rows} counts={counts} state={state} />}
      {rows.length > 0 && (
        <p className={classes.shownCount} role="status">
          {shown.length === rows.length
            ? `${rows.length} ${rows.length === 1 ? 'resource' : 'resources'}`
            : `${shown.length} of ${rows.length} resources`}
          {state.isFiltered && (
            <Button size="compact-xs" variant="subtle" onClick={state.clear}>
              Show all
            </Button>
          )}
        </p>
      )}
      <ResourceList label="Resources" all={rows} rows={shown} namedPath={namedPath} onName={name} />
      <OutputChanges changes={plan.outputChanges} />
      <Settled plan={plan} />
    </div>
  );
}

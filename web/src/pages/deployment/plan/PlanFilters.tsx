/** Counts of a plan that filter it when they are pressed, a search, and choices of module and provider. */
import { NativeSelect, TextInput, UnstyledButton } from '@mantine/core';
import { useMemo } from 'react';
import { changeKinds } from '#contract/deployments/change-kinds.ts';
import { type ChangeCounts, kindWords } from '#contract/deployments/plan-counts.ts';
import { searchBoxMark } from '../../../ui/search-box-mark.ts';
import { KindMark } from './PlanMarks.tsx';
import classes from './plan.module.css';
import { choicesOf, moduleOf, type PlanRow } from './rows.ts';
import type { PlanFilterState } from './use-plan-filter.ts';

interface PlanFiltersProps {
  readonly rows: readonly PlanRow[];
  readonly counts: ChangeCounts;
  readonly state: PlanFilterState;
}

function Counters({ counts, state }: Omit<PlanFiltersProps, 'rows'>) {
  return (
    <div className={classes.counters} role="group" aria-label="Show only">
      {changeKinds
        .filter((kind) => counts[kind] > 0)
        .map((kind) => (
          <UnstyledButton
            key={kind}
            className={classes.counter}
            data-kind={kind}
            aria-pressed={state.filter.kinds.has(kind)}
            onClick={() => state.toggle(kind)}
          >
            <KindMark kind={kind} hasWord={false} />
            <b>{counts[kind]}</b> {kindWords[kind].toDo}
          </UnstyledButton>
        ))}
    </div>
  );
}

interface ChoiceProps {
  readonly field: 'module' | 'provider';
  readonly choices: readonly string[];
  readonly state: PlanFilterState;
}

function Choice({ field, choices, state }: ChoiceProps) {
  if (choices.length < 2) return null;
  return (
    <NativeSelect
      size="xs"
      aria-label={`Only this ${field}`}
      value={state.filter[field] ?? ''}
      onChange={(event) => state.choose(field, event.currentTarget.value || undefined)}
      className={classes.choice!}
      data={[
        { value: '', label: `All ${field}s` },
        ...choices.map((choice) => ({ value: choice, label: choice })),
      ]}
    />
  );
}

export function PlanFilters({ rows, counts, state }: PlanFiltersProps) {
  const modules = useMemo(() => choicesOf(rows, moduleOf), [rows]);
  const providers = useMemo(() => choicesOf(rows, ({ providerName }) => providerName), [rows]);
  return (
    <div className={classes.filters}>
      <Counters counts={counts} state={state} />
      <div className={classes.search}>
        <TextInput
          size="xs"
          {...searchBoxMark}
          type="search"
          aria-label="Search in the plan"
          placeholder="Address, type or attribute"
          value={state.filter.text}
          onChange={(event) => state.search(event.currentTarget.value)}
        />
        <Choice field="module" choices={modules} state={state} />
        <Choice field="provider" choices={providers} state={state} />
      </div>
    </div>
  );
}

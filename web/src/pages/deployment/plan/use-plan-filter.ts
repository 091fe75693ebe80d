/** The search and the filters of a plan, in the address. */
import { useMemo } from 'react';
import { type ChangeKind, changeKinds } from '#contract/deployments/change-kinds.ts';
import { useSearchState } from '../../../ui/search.ts';
import type { PlanFilter } from './rows.ts';

export interface PlanFilterState {
  readonly filter: PlanFilter;
  readonly isFiltered: boolean;
  search(text: string): void;
  /** Adds a kind to those that are shown, or takes it away. */
  toggle(kind: ChangeKind): void;
  choose(field: 'module' | 'provider', value: string | undefined): void;
  clear(): void;
}

const nothing = { q: undefined, action: undefined, module: undefined, provider: undefined };

export function usePlanFilter(): PlanFilterState {
  const [{ q = '', action = '', module, provider }, change] = useSearchState();
  const filter = useMemo((): PlanFilter => {
    const named = action.split(',');
    return { text: q, kinds: new Set(changeKinds.filter((kind) => named.includes(kind))), module, provider };
  }, [q, action, module, provider]);
  return {
    filter,
    isFiltered: q !== '' || filter.kinds.size > 0 || module !== undefined || provider !== undefined,
    search: (text) => change({ q: text === '' ? undefined : text }),
    toggle: (kind) => {
      const kinds = new Set(filter.kinds);
      if (!kinds.delete(kind)) kinds.add(kind);
      change({ action: kinds.size === 0 ? undefined : [...kinds].join(',') });
    },
    choose: (field, value) => change({ [field]: value }),
    clear: () => change(nothing),
  };
}

/** Tabs whose choice is in the address as `?tab=`. */
import { Tabs } from '@mantine/core';
import type { ReactNode } from 'react';
import { useSearchState } from '../ui/search.ts';

export interface UrlTab {
  readonly value: string;
  readonly label: string;
  readonly content: () => ReactNode;
}

export interface UrlTabsProps {
  readonly tabs: readonly UrlTab[];
  /** "Back" leads to the tab before. */
  readonly isStep?: boolean;
}

/** The first tab is shown where the address names none. */
export function UrlTabs({ tabs, isStep = false }: UrlTabsProps) {
  const [{ tab }, change] = useSearchState();
  const chosen = tabs.find(({ value }) => value === tab) ?? tabs[0]!;
  return (
    <Tabs
      value={chosen.value}
      keepMounted={false}
      onChange={(value) => {
        const next = value === null || value === tabs[0]!.value ? undefined : value;
        change({ tab: next, open: undefined, page: undefined, edit: undefined }, isStep);
      }}
    >
      <Tabs.List>
        {tabs.map(({ value, label }) => (
          <Tabs.Tab key={value} value={value}>
            {label}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {tabs.map(({ value, content }) => (
        <Tabs.Panel key={value} value={value} pt="md">
          {value === chosen.value ? content() : null}
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}

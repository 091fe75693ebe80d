/** Tabs whose choice is in the address as `?tab=`. */
import { Tabs } from '@mantine/core';
import type { ReactNode } from 'react';
import { useSearchState } from '../ui/search.ts';

export interface UrlTab {
  readonly value: string;
  readonly label: string;
  readonly content: () => ReactNode;
}

/** The first tab is shown where the address names none. */
export function UrlTabs({ tabs }: { readonly tabs: readonly UrlTab[] }) {
  const [{ tab }, change] = useSearchState();
  const chosen = tabs.find(({ value }) => value === tab) ?? tabs[0]!;
  return (
    <Tabs
      value={chosen.value}
      keepMounted={false}
      onChange={(value) => change({ tab: value ?? undefined, open: undefined })}
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

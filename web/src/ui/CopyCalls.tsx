/** "Copy as": what the page shows or does, for a terminal. */
import { Button } from '@mantine/core';
import type { ShownCall } from './calls.ts';
import { LazyMenu, lazyMenu } from './LazyMenu.tsx';

const menu = lazyMenu<readonly ShownCall[]>(() => import('./CallsMenu.tsx'));

export function CopyCalls({ calls }: { readonly calls: readonly ShownCall[] }) {
  return (
    <LazyMenu
      menu={menu}
      content={calls}
      button={(props) => (
        <Button variant="default" size="xs" {...props}>
          Copy as …
        </Button>
      )}
    />
  );
}

/** Leads through a list that is read from the newest to the oldest: the position is in the URL. */
import { Button, Group } from '@mantine/core';
import { useSearchState } from '../ui/search.ts';

/** @param nextPageKey empty: there is nothing older */
export function NextPages({ nextPageKey }: { readonly nextPageKey: string }) {
  const [{ after }, change] = useSearchState();
  return (
    <Group mt="md" justify="flex-end">
      <Button
        size="xs"
        variant="default"
        disabled={after === undefined}
        onClick={() => change({ after: undefined }, true)}
      >
        Newest
      </Button>
      <Button
        size="xs"
        variant="default"
        disabled={nextPageKey === ''}
        onClick={() => change({ after: nextPageKey }, true)}
      >
        Older
      </Button>
    </Group>
  );
}

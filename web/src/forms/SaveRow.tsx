/** The buttons below what a person has typed: save it, or discard it. */
import { Button, Group } from '@mantine/core';
import { ActionButton } from '../ui/ActionButton.tsx';

export interface SaveRowProps {
  readonly verb: string;
  readonly isBusy: boolean;
  readonly isTouched: boolean;
  /** Why it cannot be saved, as a sentence. */
  readonly whyNot: string | undefined;
  readonly onDiscard: () => void;
}

export function SaveRow({ verb, isBusy, isTouched, whyNot, onDiscard }: SaveRowProps) {
  return (
    <Group>
      <ActionButton
        type="submit"
        size="xs"
        loading={isBusy}
        whyNot={whyNot ?? (isTouched ? undefined : 'There are no changes.')}
      >
        {verb}
      </ActionButton>
      {isTouched && (
        <Button size="xs" variant="default" onClick={onDiscard}>
          Discard
        </Button>
      )}
    </Group>
  );
}

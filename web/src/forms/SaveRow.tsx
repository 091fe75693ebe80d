/** The buttons below what a person has typed: save it, or discard it. */
import { Button, type ButtonProps, Group } from '@mantine/core';
import { ActionButton } from '../ui/ActionButton.tsx';

/** Reason why a form without changes cannot be saved. */
export const nothingChanged = 'There are no changes.';

export interface SaveButtonsProps {
  readonly verb?: string;
  readonly size?: ButtonProps['size'];
  readonly isBusy: boolean;
  readonly isTouched: boolean;
  /** Why it cannot be saved, as a sentence. */
  readonly whyNot: string | undefined;
  readonly onDiscard: () => void;
}

export function SaveButtons({ verb = 'Save', size, isBusy, isTouched, whyNot, onDiscard }: SaveButtonsProps) {
  return (
    <>
      <ActionButton
        type="submit"
        size={size}
        loading={isBusy}
        whyNot={whyNot ?? (isTouched ? undefined : nothingChanged)}
      >
        {verb}
      </ActionButton>
      {isTouched && (
        <Button size={size} variant="default" onClick={onDiscard}>
          Discard
        </Button>
      )}
    </>
  );
}

/** The same in a row of its own, smaller. */
export function SaveRow(props: SaveButtonsProps) {
  return (
    <Group>
      <SaveButtons size="xs" {...props} />
    </Group>
  );
}

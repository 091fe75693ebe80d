/** The buttons of a form in a dialog. */
import { Button, Group } from '@mantine/core';

export interface DialogFootProps {
  readonly verb: string;
  readonly onCancel: () => void;
  /** Default "Cancel". */
  readonly cancel?: string;
  readonly isBusy?: boolean;
  readonly isDisabled?: boolean;
  /** For what cannot be taken back. */
  readonly isDangerous?: boolean;
}

export function DialogFoot({
  verb,
  onCancel,
  cancel = 'Cancel',
  isBusy,
  isDisabled,
  isDangerous,
}: DialogFootProps) {
  return (
    <Group mt="md" justify="flex-end">
      <Button variant="default" onClick={onCancel}>
        {cancel}
      </Button>
      <Button
        type="submit"
        {...(isDangerous ? { color: 'red' } : {})}
        loading={isBusy ?? false}
        disabled={isDisabled ?? false}
      >
        {verb}
      </Button>
    </Group>
  );
}

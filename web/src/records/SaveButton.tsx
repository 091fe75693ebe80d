/** Saves what was edited; says why not where nothing was, or where the person may not. */
import { ActionButton } from '../ui/ActionButton.tsx';

export interface SaveButtonProps {
  readonly isDirty: boolean;
  readonly isBusy: boolean;
  /** Why the person may not; undefined: they may. */
  readonly whyNot?: string | undefined;
  readonly verb?: string | undefined;
  /** Default: one among several of a page. */
  readonly variant?: 'default' | 'filled' | undefined;
}

export function SaveButton({ isDirty, isBusy, whyNot, verb = 'Save', variant = 'default' }: SaveButtonProps) {
  return (
    <div>
      <ActionButton
        type="submit"
        variant={variant}
        loading={isBusy}
        whyNot={whyNot ?? (isDirty ? undefined : 'There are no changes.')}
      >
        {verb}
      </ActionButton>
    </div>
  );
}

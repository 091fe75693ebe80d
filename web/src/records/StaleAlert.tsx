/** Why a change was refused; if another user was faster, a way to their version. */
import { Alert, Button } from '@mantine/core';
import { isStatus } from '../api/errors.ts';
import { FormAlert } from '../forms/FormAlert.tsx';
import { intoView } from '../forms/problems.ts';

export interface StaleAlertProps {
  readonly error: unknown;
  /** Drops what was typed, and shows the version of the other person. */
  readonly onShow: () => void;
}

/** Edits stay until the person requests the other version. */
export function StaleAlert({ error, onShow }: StaleAlertProps) {
  if (!isStatus(error, 412)) return <FormAlert mb="md" error={error} />;
  return (
    <Alert ref={intoView} color="red" role="alert" title="Changed by someone else" mb="md">
      It was changed since you opened it, and your change was not made. What you typed is still here: copy
      what you need before you look at their version.
      <div style={{ marginTop: 'var(--e-space-2)' }}>
        <Button size="xs" variant="default" onClick={onShow}>
          Show their version
        </Button>
      </div>
    </Alert>
  );
}

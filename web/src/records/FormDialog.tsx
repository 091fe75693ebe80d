/**
 * A form in a dialog. Clicks beside it do not close it, nor does Escape once something was typed, so that nothing is
 * lost by accident.
 */
import { Button, Group, Modal, Stack } from '@mantine/core';
import { type FormEvent, type ReactNode, useState } from 'react';
import { FormAlert } from '../forms/FormAlert.tsx';

export interface FormDialogProps {
  readonly title: string;
  /** What the form does, in a sentence or two. */
  readonly lead?: ReactNode;
  readonly verb: string;
  readonly isBusy: boolean;
  readonly problem?: unknown;
  readonly size?: string;
  readonly onSubmit: (event?: FormEvent<HTMLFormElement>) => void;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** Render it only while it is open: then it begins empty each time. */
export function FormDialog({ title, lead, verb, isBusy, problem, size = 'lg', ...props }: FormDialogProps) {
  const [isTouched, setTouched] = useState(false);
  return (
    <Modal
      opened
      onClose={props.onClose}
      title={title}
      size={size}
      closeOnClickOutside={false}
      closeOnEscape={!isTouched}
    >
      {lead !== undefined && <p style={{ marginTop: 0, color: 'var(--e-ink-2)' }}>{lead}</p>}
      <FormAlert mb="md" error={problem} />
      <form onSubmit={props.onSubmit} onInput={() => setTouched(true)} noValidate>
        <Stack gap="md">{props.children}</Stack>
        <Group mt="lg" justify="flex-end">
          <Button variant="default" onClick={props.onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={isBusy}>
            {verb}
          </Button>
        </Group>
      </form>
    </Modal>
  );
}

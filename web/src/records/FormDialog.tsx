/**
 * A form in a dialog. Clicks beside it do not close it, nor does Escape once something was typed, so that nothing is
 * lost by accident.
 */
import { Button, Group, Modal, Stack } from '@mantine/core';
import { type FormEvent, type ReactNode, useState } from 'react';
import { FormAlert } from '../forms/FormAlert.tsx';
import { ActionButton } from '../ui/ActionButton.tsx';

export interface FormDialogProps {
  readonly title: string;
  /** Purpose of the form, in a sentence or two. */
  readonly lead?: ReactNode;
  readonly verb: string;
  /** On the button that changes nothing; default: Cancel. */
  readonly cancel?: string;
  /** For what cannot be undone. */
  readonly isDangerous?: boolean;
  readonly isBusy: boolean;
  readonly problem?: unknown;
  /** Why the form cannot be sent, as a sentence. */
  readonly whyNot?: string | undefined;
  /** Above the fields, such as what another user has changed. */
  readonly notice?: ReactNode;
  readonly size?: string;
  readonly onSubmit: (event?: FormEvent<HTMLFormElement>) => void;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** Render it only while it is open: then it begins empty each time. */
export function FormDialog(props: FormDialogProps) {
  const { title, lead, verb, isBusy, problem, whyNot, size = 'lg' } = props;
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
      {props.notice}
      <FormAlert mb="md" error={problem} />
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (whyNot === undefined) props.onSubmit(event);
        }}
        onInput={() => setTouched(true)}
        noValidate
      >
        <Stack gap="md">{props.children}</Stack>
        <Group mt="lg" justify="flex-end">
          <Button variant="default" onClick={props.onClose}>
            {props.cancel ?? 'Cancel'}
          </Button>
          <ActionButton
            type="submit"
            {...(props.isDangerous ? { color: 'red' } : {})}
            loading={isBusy}
            whyNot={whyNot}
          >
            {verb}
          </ActionButton>
        </Group>
      </form>
    </Modal>
  );
}

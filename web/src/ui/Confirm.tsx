/** Asks before something that cannot be taken back. */
import { Button, Group, Modal, TextInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';

export interface ConfirmProps {
  readonly isOpen: boolean;
  readonly title: string;
  readonly children: ReactNode;
  /** The verb on the button, such as "Destroy". */
  readonly verb: string;
  /** A text that has to be typed, such as the name of what is destroyed. */
  readonly typed?: string;
  readonly isBusy?: boolean;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}

export function Confirm({ isOpen, title, children, verb, typed, isBusy, onConfirm, onClose }: ConfirmProps) {
  const [text, setText] = useState('');
  const close = () => {
    setText('');
    onClose();
  };
  const isReady = typed === undefined || text === typed;
  return (
    <Modal opened={isOpen} onClose={close} title={title}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (!isReady) return;
          setText('');
          onConfirm();
        }}
      >
        {children}
        {typed !== undefined && (
          <TextInput
            mt="sm"
            label={`Type ${typed} to confirm`}
            value={text}
            autoComplete="off"
            data-autofocus
            onChange={(event) => setText(event.currentTarget.value)}
          />
        )}
        <Group mt="md" justify="flex-end">
          <Button variant="default" onClick={close}>
            Keep it
          </Button>
          <Button type="submit" color="red" disabled={!isReady} loading={isBusy ?? false}>
            {verb}
          </Button>
        </Group>
      </form>
    </Modal>
  );
}

/** The frame of a question before a decision. */
import { Button, Group, Modal } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Decisions } from './use-decisions.ts';

export interface QuestionProps {
  readonly title: string;
  readonly children: ReactNode;
  /** Label of the button that changes nothing. */
  readonly no: string;
  readonly verb: string;
  /** Whether something is lost by it. */
  readonly isDanger?: boolean;
  readonly isReady?: boolean;
  readonly decisions: Pick<Decisions, 'ask' | 'isBusy'>;
  readonly onConfirm: () => void;
}

export function Question(props: QuestionProps) {
  const { title, children, no, verb, isDanger = false, isReady = true, decisions, onConfirm } = props;
  const close = () => decisions.ask(undefined);
  return (
    <Modal opened onClose={close} title={title} size="lg">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady && !decisions.isBusy) onConfirm();
        }}
      >
        {children}
        <Group justify="flex-end" mt="md">
          <Button variant="default" onClick={close} data-autofocus={isDanger || undefined}>
            {no}
          </Button>
          <Button
            type="submit"
            {...(isDanger ? { color: 'red' } : {})}
            disabled={!isReady}
            loading={decisions.isBusy}
            data-autofocus={!isDanger || undefined}
          >
            {verb}
          </Button>
        </Group>
      </form>
    </Modal>
  );
}

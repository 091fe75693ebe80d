/** A secret that is shown once: it closes only by the person who has stored it. */
import { Alert, Button, CopyButton, Group, Modal, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { CommandLine } from '../ui/CommandLine.tsx';
import classes from './records.module.css';

export interface SecretField {
  readonly label: string;
  readonly value: string;
}

export interface SecretDialogProps {
  readonly title: string;
  /** Purpose of the secret, and its recipient. */
  readonly lead: ReactNode;
  /** For the warning, such as "The secret" or "The link". */
  readonly what: string;
  readonly values: readonly SecretField[];
  /** Commands in which the values are used. */
  readonly commands?: readonly SecretField[];
  readonly onClose: () => void;
}

function Value({ label, value }: SecretField) {
  return (
    <div className={classes.secret}>
      <span className={classes.secretLabel}>{label}</span>
      <code tabIndex={0} aria-label={label}>
        {value}
      </code>
      <CopyButton value={value}>
        {({ copied, copy }) => (
          <Button size="compact-sm" variant="light" onClick={copy} aria-label={`Copy: ${label}`}>
            {copied ? 'Copied' : 'Copy'}
          </Button>
        )}
      </CopyButton>
    </div>
  );
}

/** Render it only while there is something to show: the caller drops the values when it closes. */
export function SecretDialog({ title, lead, what, values, commands = [], onClose }: SecretDialogProps) {
  return (
    <Modal
      opened
      onClose={onClose}
      title={title}
      size="xl"
      closeOnClickOutside={false}
      closeOnEscape={false}
      withCloseButton={false}
    >
      <p style={{ marginTop: 0 }}>{lead}</p>
      <Alert color="yellow" mb="md">
        {what} is shown only now. Store it before you close this window: the service cannot show it again.
      </Alert>
      <Stack gap="xs">
        {values.map((each) => (
          <Value key={each.label} {...each} />
        ))}
        {commands.map(({ label, value }) => (
          <CommandLine key={label} label={label} text={value} />
        ))}
      </Stack>
      <Group mt="lg" justify="flex-end">
        <Button onClick={onClose}>I have stored it</Button>
      </Group>
    </Modal>
  );
}

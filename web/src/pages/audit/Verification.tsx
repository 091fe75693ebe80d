/** Has the service check the whole chain, and says what it found. */
import { Alert, Button, CopyButton, Group, Modal, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { client } from '../../api/client.ts';
import type { Reply } from '../../api/queries.ts';
import { FormAlert } from '../../forms/FormAlert.tsx';
import classes from '../../records/records.module.css';

type VerificationReply = Reply<'verifyAudit'>;

function Found({
  result: { isIntact, entries, findings, findingCount, heads },
}: {
  readonly result: VerificationReply;
}) {
  return (
    <>
      <Alert
        role="status"
        color={isIntact ? 'green' : 'red'}
        title={isIntact ? 'The chain is intact' : 'The chain is broken'}
      >
        {entries} entries were checked{isIntact ? '.' : `, and ${findingCount} things were found.`}
      </Alert>
      {findings.length > 0 && (
        <ul className={classes.list} style={{ marginTop: 'var(--e-space-3)' }}>
          {findings.map(({ kind, chain, number, text }) => (
            <li key={`${chain}.${kind}.${number}.${text}`}>
              <code>{kind}</code>
              <span>{text}</span>
            </li>
          ))}
        </ul>
      )}
      {heads.map(({ chain, number, hash }) => (
        <div key={chain} className={classes.secret} style={{ marginTop: 'var(--e-space-3)' }}>
          <span className={classes.secretLabel}>Hash of entry {number}</span>
          <code>{hash}</code>
          <CopyButton value={hash}>
            {({ copied, copy }) => (
              <Button size="compact-sm" variant="light" onClick={copy}>
                {copied ? 'Copied' : 'Copy'}
              </Button>
            )}
          </CopyButton>
        </div>
      ))}
    </>
  );
}

export interface VerificationProps {
  readonly organizationId: string;
  readonly onClose: () => void;
}

export function Verification({ organizationId, onClose }: VerificationProps) {
  const [head, setHead] = useState('');
  const isHash = head === '' || /^[0-9a-f]{64}$/i.test(head.trim());
  const verify = useMutation({
    gcTime: 0,
    mutationFn: () =>
      client.call('verifyAudit', {
        query: { organizationId, ...(head === '' ? {} : { head: head.trim() }) },
      }),
  });
  return (
    <Modal opened onClose={onClose} title="Verify the chain" size="lg">
      <p style={{ marginTop: 0 }}>
        The service recomputes all hashes and compares them. Keep the hash of the last entry elsewhere: only
        it can prove later that the whole trail was not replaced.
      </p>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (isHash) verify.mutate();
        }}
      >
        <TextInput
          label="A hash that you stored"
          description="Optional: an entry must have it."
          value={head}
          error={isHash ? undefined : '64 hexadecimal digits are expected.'}
          onChange={(event) => setHead(event.currentTarget.value)}
        />
        <Group my="md">
          <Button type="submit" loading={verify.isPending}>
            Verify now
          </Button>
        </Group>
      </form>
      <FormAlert error={verify.error} />
      {verify.data && <Found result={verify.data} />}
    </Modal>
  );
}

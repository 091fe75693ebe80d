/** Imports a state file, or leaves an environment without a state. */
import { Button, FileInput, Menu, Textarea } from '@mantine/core';
import { useState } from 'react';
import { showDone } from '../../../api/messages.ts';
import { useChange } from '../../../api/queries.ts';
import { FormDialog } from '../../../records/FormDialog.tsx';
import { Confirm } from '../../../ui/Confirm.tsx';
import { type EnvironmentProps, environmentReads } from '../facts/reads.ts';
import { AcceptLineage } from './AcceptLineage.tsx';
import { sizeText } from './words.ts';

const refreshes = [...environmentReads, 'listStateVersions'] as const;

function ImportDialog({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const [file, setFile] = useState<File | null>(null);
  const [comment, setComment] = useState('');
  const [isAccepted, setIsAccepted] = useState(false);
  const send = useChange('importState', {
    refreshes,
    onSuccess: ({ serial }) => {
      showDone(`Serial ${serial ?? ''} is current now`);
      onClose();
    },
    onError: () => true,
  });
  return (
    <FormDialog
      title="Import a state file"
      verb="Import"
      isBusy={send.isPending}
      problem={send.error}
      whyNot={file === null ? 'Choose a file first.' : undefined}
      onSubmit={() => {
        const query = {
          ...(comment ? { comment } : {}),
          ...(isAccepted ? { acceptOtherLineage: true } : {}),
        };
        send.mutate({ params: { id }, query, body: file as never });
      }}
      onClose={onClose}
    >
      <FileInput
        label="State file"
        description={file === null ? 'As the tool wrote it, version 4' : sizeText(file.size)}
        placeholder="terraform.tfstate"
        required
        clearable
        value={file}
        onChange={setFile}
      />
      <Textarea
        label="Reason"
        autosize
        maxLength={1000}
        value={comment}
        onChange={({ currentTarget }) => setComment(currentTarget.value)}
      />
      <AcceptLineage error={send.error} isAccepted={isAccepted} onChange={setIsAccepted} />
    </FormDialog>
  );
}

export function ImportState({ environment, rights }: EnvironmentProps) {
  const { id, name } = environment;
  const [dialog, setDialog] = useState<'import' | 'clear'>();
  const close = () => setDialog(undefined);
  const clear = useChange('clearState', {
    refreshes,
    onSuccess: () => {
      showDone('It has no current state now');
      close();
    },
  });
  if (!rights.has('WRITE_STATE')) return null;
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button size="xs" variant="default">
            Import or clear
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => setDialog('import')}>Import a state file …</Menu.Item>
          <Menu.Item color="red" onClick={() => setDialog('clear')}>
            Clear the state …
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {dialog === 'import' && <ImportDialog id={id} onClose={close} />}
      <Confirm
        isOpen={dialog === 'clear'}
        title="Leave it without a current state?"
        verb="Clear"
        typed={name}
        isBusy={clear.isPending}
        onClose={close}
        onConfirm={() => clear.mutate({ params: { id } })}
      >
        <p>
          The next deployment starts without a state and would create everything again. All versions are kept:
          a rollback restores one.
        </p>
      </Confirm>
    </>
  );
}

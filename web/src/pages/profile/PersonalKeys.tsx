/** Keys that act as the person. */
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { type Reply, useRead } from '../../api/queries.ts';
import { NameField } from '../../forms/NameFields.tsx';
import { validateName } from '../../forms/validate-name.ts';
import { Detail, OpenLink, useOpenRow } from '../../records/Detail.tsx';
import { Expiry } from '../../records/Expiry.tsx';
import { FormDialog } from '../../records/FormDialog.tsx';
import { KeyLimits } from '../../records/KeyLimits.tsx';
import { KeySecret } from '../../records/KeySecret.tsx';
import { KeySecrets } from '../../records/KeySecrets.tsx';
import { expiryOf, type KeySpan } from '../../records/key-limits.ts';
import { Part } from '../../records/Part.tsx';
import { RecordsTable } from '../../records/RecordsPage.tsx';
import { Removal } from '../../records/Removal.tsx';
import { useChangeForm } from '../../records/use-change-form.ts';
import { ActionButton } from '../../ui/ActionButton.tsx';
import { callOf } from '../../ui/calls.ts';
import { type Column } from '../../ui/DataTable.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { Facts } from '../../ui/Facts.tsx';
import { Loaded } from '../../ui/Loaded.tsx';
import { TimeAgo } from '../../ui/Time.tsx';

type PersonalKey = Reply<'listPersonalApiKeys'>[number];

const columns: readonly Column<PersonalKey>[] = [
  { id: 'name', head: 'Name', cell: ({ id, name }) => <OpenLink id={id}>{name}</OpenLink> },
  {
    id: 'used',
    head: 'Last used',
    cell: ({ lastUsedAt }) => (lastUsedAt ? <TimeAgo at={lastUsedAt} /> : 'Never'),
  },
  { id: 'made', head: 'Made', isMinor: true, cell: ({ createdAt }) => <TimeAgo at={createdAt} /> },
  { id: 'ends', head: 'Ends', cell: ({ expiresAt }) => <Expiry at={expiresAt} /> },
];

function NewKey({ onClose }: { readonly onClose: () => void }) {
  const [made, setMade] = useState<Reply<'createPersonalApiKey'>>();
  const form = useForm({
    initialValues: { name: '', span: 'quarter' as KeySpan, networks: [] as string[] },
    validate: { name: validateName },
  });
  const { change, problem } = useChangeForm('createPersonalApiKey', {
    form,
    fields: { expiresAt: 'span' },
    refreshes: ['listPersonalApiKeys'],
    onSuccess: setMade,
  });
  if (made) return <KeySecret made={made} onClose={onClose} />;
  return (
    <FormDialog
      title="New personal key"
      lead="The key acts as you, with your rights at any time. A key with limits cannot create other keys."
      verb="Create key"
      isBusy={change.isPending}
      problem={problem}
      onClose={onClose}
      onSubmit={form.onSubmit(({ name, span, networks }) =>
        change.mutate({ body: { name, networks, expiresAt: expiryOf(span, Date.now()) } }),
      )}
    >
      <NameField description="Where it is used" data-autofocus {...form.getInputProps('name')} />
      <KeyLimits form={form} />
    </FormDialog>
  );
}

function KeyDetail({ apiKey, onClose }: { readonly apiKey: PersonalKey; readonly onClose: () => void }) {
  const { id, name, apiKeyId, createdAt, lastUsedAt, expiresAt, networks } = apiKey;
  return (
    <Detail title={name} onClose={onClose}>
      <Facts
        facts={[
          ['User name', <code key="id">{apiKeyId}</code>],
          ['Made', <TimeAgo key="made" at={createdAt} />],
          ['Last used', lastUsedAt ? <TimeAgo at={lastUsedAt} /> : 'Never'],
          ['Ends', <Expiry key="ends" at={expiresAt} />],
          ['Networks', networks?.length ? networks.join(', ') : 'All'],
        ]}
      />
      <KeySecrets apiKey={apiKey} isPersonal whyNot={undefined} />
      <div>
        <Removal
          operation="deletePersonalApiKey"
          input={{ params: { id } }}
          refreshes={['listPersonalApiKeys']}
          label="Delete key"
          question={`Delete ${name}?`}
          done="The key was deleted"
          onDone={onClose}
        >
          <p>Its next request is refused.</p>
        </Removal>
      </div>
    </Detail>
  );
}

export function PersonalKeys() {
  const keys = useRead('listPersonalApiKeys');
  const [isCreating, setCreating] = useState(false);
  const { openId, close } = useOpenRow();
  const opened = keys.data?.find(({ id }) => id === openId);
  const button = (
    <ActionButton size="xs" onClick={() => setCreating(true)}>
      New key
    </ActionButton>
  );
  const call = callOf('Create a key', 'createPersonalApiKey', { body: { name: 'laptop' } }, [
    'key',
    'create',
    'laptop',
    '--personal',
  ]);
  return (
    <Part title="Your keys" lead="For programs that act as you." actions={button}>
      <Loaded query={keys} lines={3}>
        {(rows) => (
          <RecordsTable
            label="Your keys"
            columns={columns}
            rows={rows}
            idOf={({ id }) => id}
            empty={
              <EmptyState title="You have no keys" call={call}>
                The command line needs none where you sign in with <code>envarium login</code>.
              </EmptyState>
            }
          />
        )}
      </Loaded>
      {opened && <KeyDetail key={opened.id} apiKey={opened} onClose={close} />}
      {isCreating && <NewKey onClose={() => setCreating(false)} />}
    </Part>
  );
}

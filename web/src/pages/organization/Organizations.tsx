/** The organizations that the person belongs to. */
import { Button, Textarea } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { showDone } from '../../api/messages.ts';
import { type Reply, useRead } from '../../api/queries.ts';
import { chooseOrganization, useSession } from '../../api/session.ts';
import { NameField } from '../../forms/NameFields.tsx';
import { validateName } from '../../forms/validate-name.ts';
import { FormDialog } from '../../records/FormDialog.tsx';
import { Part } from '../../records/Part.tsx';
import { useChangeForm } from '../../records/use-change-form.ts';
import { type Column, DataTable } from '../../ui/DataTable.tsx';
import { Loaded } from '../../ui/Loaded.tsx';
import { TimeAgo } from '../../ui/Time.tsx';

type ListedOrganization = Reply<'listOrganizations'>[number];

function NewOrganization({ onClose }: { readonly onClose: () => void }) {
  const form = useForm({
    initialValues: { name: '', description: '' },
    validate: { name: validateName },
  });
  const { change, problem } = useChangeForm('createOrganization', {
    form,
    refreshes: ['listOrganizations', 'getCurrentUser'],
    onSuccess: ({ name }) => {
      showDone(`${name} was created: "Work here" opens it`);
      onClose();
    },
  });
  return (
    <FormDialog
      title="New organization"
      lead="You become its first admin. Organizations share nothing: neither people's roles, nor projects, nor keys."
      verb="Create organization"
      isBusy={change.isPending}
      problem={problem}
      onClose={onClose}
      onSubmit={form.onSubmit((body) => change.mutate({ body }))}
    >
      <NameField data-autofocus {...form.getInputProps('name')} />
      <Textarea label="Description" autosize minRows={2} {...form.getInputProps('description')} />
    </FormDialog>
  );
}

export function Organizations() {
  const { me, organizationId } = useSession();
  const [isCreating, setCreating] = useState(false);
  const navigate = useNavigate();
  const organizations = useRead('listOrganizations');
  const work = (id: string) => {
    chooseOrganization(id);
    void navigate({ to: '/' });
  };
  const columns: readonly Column<ListedOrganization>[] = [
    { id: 'name', head: 'Name', cell: ({ name }) => <bdi>{name}</bdi> },
    { id: 'role', head: 'Your role', cell: ({ role }) => <bdi>{role}</bdi> },
    { id: 'text', head: 'Description', isMinor: true, cell: ({ description }) => <bdi>{description}</bdi> },
    { id: 'at', head: 'Created', isMinor: true, cell: ({ createdAt }) => <TimeAgo at={createdAt} /> },
    {
      id: 'do',
      head: '',
      cell: ({ id }) =>
        id === organizationId ? (
          'You work here'
        ) : (
          <Button size="xs" variant="default" onClick={() => work(id)}>
            Work here
          </Button>
        ),
    },
  ];
  return (
    <Part
      title="Your organizations"
      actions={
        me.mayCreateOrganizations && (
          <Button size="xs" onClick={() => setCreating(true)}>
            New organization
          </Button>
        )
      }
    >
      <Loaded query={organizations} lines={3}>
        {(rows) => <DataTable label="Organizations" columns={columns} rows={rows} idOf={({ id }) => id} />}
      </Loaded>
      {isCreating && <NewOrganization onClose={() => setCreating(false)} />}
    </Part>
  );
}

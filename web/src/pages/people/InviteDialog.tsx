/** Invites a person, and shows the link to pass on. */
import { TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { RoleSelect } from '../../records/choosers.tsx';
import { FormDialog } from '../../records/FormDialog.tsx';
import { filledRoles, type ProjectRole, ProjectRolesField } from '../../records/ProjectRolesField.tsx';
import { useChangeForm } from '../../records/use-change-form.ts';
import { InvitationLink } from './InvitationLink.tsx';

export interface InviteDialogProps {
  readonly organizationId: string;
  readonly onClose: () => void;
}

interface InviteValues {
  readonly email: string;
  readonly role: string;
  readonly projects: readonly ProjectRole[];
}

/** Without any role, the person gets the default one. */
function bodyOf(organizationId: string, { email, role, projects }: InviteValues) {
  const body = { email: email.trim(), organizationId };
  if (role === '' && projects.length === 0) return body;
  return {
    ...body,
    permissions: { organizationRole: role || 'User', projectsPermissions: filledRoles(projects) },
  };
}

export function InviteDialog({ organizationId, onClose }: InviteDialogProps) {
  const [link, setLink] = useState<string>();
  const form = useForm({
    initialValues: { email: '', role: '', projects: [] as ProjectRole[] },
    validate: { email: (email) => (email.includes('@') ? null : 'An e-mail address is required.') },
  });
  const { change, problem } = useChangeForm('createInvitation', {
    form,
    fields: { 'permissions.organizationRole': 'role' },
    refreshes: ['listMembers', 'listInvitations'],
    onSuccess: (made) => setLink(made.link),
  });
  if (link !== undefined) return <InvitationLink email={form.values.email} link={link} onClose={onClose} />;
  return (
    <FormDialog
      title="Invite a person"
      lead="The service sends no e-mail: you get a one-time link to pass on. No one can grant a role with rights that they do not have."
      verb="Create the invitation"
      isBusy={change.isPending}
      problem={problem}
      onClose={onClose}
      onSubmit={form.onSubmit((values) => change.mutate({ body: bodyOf(organizationId, values) }))}
    >
      <TextInput
        label="E-mail"
        type="email"
        required
        data-autofocus
        autoComplete="off"
        {...form.getInputProps('email')}
      />
      <RoleSelect
        scope="organization"
        label="Role in the organization"
        placeholder="Default: the default role of the organization, or User"
        clearable
        allowDeselect
        value={form.values.role || null}
        error={form.errors.role}
        onChange={(role) => form.setFieldValue('role', role ?? '')}
      />
      <ProjectRolesField
        value={form.values.projects}
        onChange={(projects) => form.setFieldValue('projects', projects)}
      />
    </FormDialog>
  );
}

/** Makes a key of the organization, and shows its secret once. */
import { Textarea } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import type { Reply } from '../../api/queries.ts';
import { NameField } from '../../forms/NameFields.tsx';
import { validateName } from '../../forms/validate-name.ts';
import { MemberSelect, RoleSelect } from '../../records/choosers.tsx';
import { FormDialog } from '../../records/FormDialog.tsx';
import { KeyLimits } from '../../records/KeyLimits.tsx';
import { KeySecret } from '../../records/KeySecret.tsx';
import { expiryOf, type KeySpan } from '../../records/key-limits.ts';
import { filledRoles, type ProjectRole, ProjectRolesField } from '../../records/ProjectRolesField.tsx';
import { useChangeForm } from '../../records/use-change-form.ts';

const begin = {
  name: '',
  description: '',
  ownerId: null as string | null,
  role: 'User',
  projects: [] as ProjectRole[],
  span: 'quarter' as KeySpan,
  networks: [] as string[],
};

function bodyOf(organizationId: string, values: typeof begin) {
  const { name, description, ownerId, role, projects, span, networks } = values;
  return {
    organizationId,
    name,
    ownerId,
    networks,
    expiresAt: expiryOf(span, Date.now()),
    ...(description === '' ? {} : { description }),
    permissions: { organizationRole: role, projectsPermissions: filledRoles(projects) },
  };
}

export function NewApiKey({ organizationId, onClose }: { organizationId: string; onClose: () => void }) {
  const [made, setMade] = useState<Reply<'createApiKey'>>();
  const form = useForm({
    initialValues: begin,
    validate: { name: validateName },
  });
  const { change, problem } = useChangeForm('createApiKey', {
    form,
    fields: { expiresAt: 'span', 'permissions.organizationRole': 'role' },
    refreshes: ['listApiKeys', 'listMembers'],
    onSuccess: setMade,
  });
  if (made) return <KeySecret made={made} onClose={onClose} />;
  return (
    <FormDialog
      title="New key of the organization"
      lead="The key is its own user: you can give it roles and add it to teams. It never gets rights that you do not have."
      verb="Create key"
      isBusy={change.isPending}
      problem={problem}
      onClose={onClose}
      onSubmit={form.onSubmit((values) => change.mutate({ body: bodyOf(organizationId, values) }))}
    >
      <NameField description="Of the program that uses it" data-autofocus {...form.getInputProps('name')} />
      <Textarea label="What for" autosize minRows={2} {...form.getInputProps('description')} />
      <MemberSelect
        isPerson
        clearable
        label="Owner"
        description="A person of the organization. This gives them no rights."
        {...form.getInputProps('ownerId')}
      />
      <RoleSelect scope="organization" label="Role in the organization" {...form.getInputProps('role')} />
      <ProjectRolesField
        value={form.values.projects}
        onChange={(projects) => form.setFieldValue('projects', projects)}
      />
      <KeyLimits form={form} />
    </FormDialog>
  );
}

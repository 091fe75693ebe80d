/** Stores a cloud credential. */
import { TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { showDone } from '../../api/messages.ts';
import { ProjectSelect } from '../../forms/ProjectSelect.tsx';
import { useOpenRow } from '../../records/Detail.tsx';
import { FormDialog } from '../../records/FormDialog.tsx';
import { useChangeForm } from '../../records/use-change-form.ts';
import { type CredentialValues, KindSelect, ValueFields } from './CredentialFields.tsx';
import { problemsOf, valueOf } from './credential-kinds.ts';

export interface NewCredentialProps {
  readonly organizationId: string;
  readonly onClose: () => void;
}

export function NewCredential({ organizationId, onClose }: NewCredentialProps) {
  const { open } = useOpenRow();
  const form = useForm<CredentialValues>({
    initialValues: { name: '', type: 'AWS_OIDC', projectId: '', value: {} },
    validate: ({ name, type, value }) => ({
      ...(name.trim() === '' ? { name: 'A name is needed.' } : {}),
      ...problemsOf(type, value),
    }),
  });
  const { change, problem } = useChangeForm('createCredential', {
    form,
    refreshes: ['listCredentials'],
    onSuccess: ({ id }) => {
      showDone('The credential was stored');
      onClose();
      open(id);
    },
  });
  return (
    <FormDialog
      title="New cloud credential"
      lead="Its values are encrypted, and no reply contains them again. Runs get it once it is assigned to a project."
      verb="Store credential"
      isBusy={change.isPending}
      problem={problem}
      onClose={onClose}
      onSubmit={form.onSubmit(({ name, type, projectId, value }) =>
        change.mutate({
          body: {
            name,
            type,
            value: valueOf(type, value),
            ...(projectId === '' ? { organizationId } : { projectId }),
          },
        }),
      )}
    >
      <TextInput label="Name" required data-autofocus autoComplete="off" {...form.getInputProps('name')} />
      <KindSelect form={form} />
      <ValueFields form={form} />
      <ProjectSelect
        label="Belongs to"
        placeholder="The organization"
        description="A credential of a project can be used there and below only."
        clearable
        value={form.values.projectId}
        error={form.errors.projectId}
        onChange={(projectId) => form.setFieldValue('projectId', projectId)}
      />
    </FormDialog>
  );
}

/** Stores a git token. */
import { PasswordInput, SegmentedControl, TagsInput, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { showDone } from '../../api/messages.ts';
import { useOpenRow } from '../../records/Detail.tsx';
import { FormDialog } from '../../records/FormDialog.tsx';
import { useChangeForm } from '../../records/use-change-form.ts';
import { ProjectsField } from './ProjectsField.tsx';

type GitTokenType = 'GIT' | 'REGISTRY';

function useTokenForm() {
  return useForm({
    initialValues: {
      name: '',
      value: '',
      type: 'GIT' as GitTokenType,
      hosts: [] as string[],
      projectIds: [] as string[],
    },
    validate: {
      name: (name) => (name.trim() === '' ? 'A name is needed.' : null),
      value: (value) => (value === '' ? 'The token is needed.' : null),
      hosts: (hosts, { type }) =>
        type === 'REGISTRY' && hosts.length === 0 ? 'A token for registries needs their hosts.' : null,
    },
  });
}

function Fields({ form }: { readonly form: ReturnType<typeof useTokenForm> }) {
  return (
    <>
      <TextInput label="Name" required data-autofocus autoComplete="off" {...form.getInputProps('name')} />
      <SegmentedControl
        aria-label="For"
        data={[
          { value: 'GIT', label: 'Repositories' },
          { value: 'REGISTRY', label: 'Registries' },
        ]}
        value={form.values.type}
        onChange={(type) => form.setFieldValue('type', type as GitTokenType)}
      />
      <PasswordInput
        label="Token"
        description="The token itself, or user:token where the host needs a user name."
        required
        autoComplete="new-password"
        {...form.getInputProps('value')}
      />
      <TagsInput
        label="Hosts"
        required={form.values.type === 'REGISTRY'}
        description="Every run of its projects sends the token to these hosts, also for modules and submodules."
        placeholder="github.com, then Enter"
        {...form.getInputProps('hosts')}
      />
      <ProjectsField form={form} />
    </>
  );
}

export function NewGitToken({ organizationId, onClose }: { organizationId: string; onClose: () => void }) {
  const { open } = useOpenRow();
  const form = useTokenForm();
  const { change, problem } = useChangeForm('createGitToken', {
    form,
    refreshes: ['listGitTokens'],
    onSuccess: ({ id }) => {
      showDone('The token was stored');
      onClose();
      open(id);
    },
  });
  return (
    <FormDialog
      title="New git token"
      lead="It is encrypted, and no reply contains it again."
      verb="Store token"
      isBusy={change.isPending}
      problem={problem}
      onClose={onClose}
      onSubmit={form.onSubmit((values) => change.mutate({ body: { organizationId, ...values } }))}
    >
      <Fields form={form} />
    </FormDialog>
  );
}

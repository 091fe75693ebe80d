/** Stores a git token. */
import { PasswordInput, SegmentedControl, TagsInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { NameField } from '../../forms/NameFields.tsx';
import { validateName } from '../../forms/validate-name.ts';
import { NewRecord } from '../../records/NewRecord.tsx';
import { ProjectsField } from './ProjectsField.tsx';

type GitTokenType = 'GIT' | 'REGISTRY';

const newToken = {
  name: '',
  value: '',
  type: 'GIT' as GitTokenType,
  hosts: [] as string[],
  projectIds: [] as string[],
};

function Fields({ form }: { readonly form: UseFormReturnType<typeof newToken> }) {
  return (
    <>
      <NameField data-autofocus {...form.getInputProps('name')} />
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
  return (
    <NewRecord
      title="New git token"
      lead="It is stored encrypted and never shown again."
      verb="Store token"
      done="The token was stored"
      operation="createGitToken"
      refreshes={['listGitTokens']}
      initialValues={newToken}
      validate={{
        name: validateName,
        value: (value) => (value === '' ? 'The token is required.' : null),
        hosts: (hosts, { type }) =>
          type === 'REGISTRY' && hosts.length === 0 ? 'A token for registries requires their hosts.' : null,
      }}
      inputOf={(values) => ({ body: { organizationId, ...values } })}
      idOf={({ id }) => id}
      onClose={onClose}
    >
      {(form) => <Fields form={form} />}
    </NewRecord>
  );
}

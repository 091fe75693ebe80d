/** One git token: a new value, its hosts and projects, what uses it, and its end. */
import { PasswordInput, Stack, TagsInput, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { showDone } from '../../api/messages.ts';
import { type Reply, type Tagged, useTagged } from '../../api/queries.ts';
import { Detail } from '../../records/Detail.tsx';
import { Part } from '../../records/Part.tsx';
import { Removal } from '../../records/Removal.tsx';
import { SaveButton } from '../../records/SaveButton.tsx';
import { StaleAlert } from '../../records/StaleAlert.tsx';
import { useChangeForm } from '../../records/use-change-form.ts';
import { settle, useEdited } from '../../records/use-edited.ts';
import { Facts } from '../../ui/Facts.tsx';
import { Loaded } from '../../ui/Loaded.tsx';
import { ProjectsField } from './ProjectsField.tsx';
import { UsedBy } from './UsedBy.tsx';

type GitTokenReply = Reply<'getGitToken'>;

interface GitTokenSettingsProps {
  readonly found: Tagged<GitTokenReply>;
  readonly whyNot: string | undefined;
}

const concerned = ['listGitTokens', 'getGitToken'] as const;

const valuesOf = ({ name, hosts, projectIds }: GitTokenReply) => ({ name, value: '', hosts, projectIds });

function Settings({ found, whyNot }: GitTokenSettingsProps) {
  const form = useForm({
    initialValues: valuesOf(found.data),
    validate: { name: (name) => (name.trim() === '' ? 'A name is needed.' : null) },
  });
  const edited = useEdited(found, form, valuesOf);
  const { change, problem } = useChangeForm('updateGitToken', {
    form,
    refreshes: concerned,
    onSuccess: (_reply, _input, sent) => {
      settle(form, sent, { ...sent, value: '' });
      showDone('The token was changed');
    },
  });
  return (
    <form
      noValidate
      onSubmit={form.onSubmit(({ value, ...rest }) =>
        change.mutate({
          params: { id: found.data.id },
          body: { ...rest, ...(value === '' ? {} : { value }) },
          ifMatch: edited.version(),
        }),
      )}
    >
      <Stack gap="sm">
        <StaleAlert error={problem} onShow={edited.showLatest} />
        <TextInput label="Name" required {...form.getInputProps('name')} />
        <PasswordInput
          label="New token"
          placeholder="Empty: the stored one remains"
          autoComplete="new-password"
          {...form.getInputProps('value')}
        />
        <TagsInput label="Hosts" {...form.getInputProps('hosts')} />
        <ProjectsField form={form} isStored />
        <SaveButton isDirty={form.isDirty()} isBusy={change.isPending} whyNot={whyNot} />
      </Stack>
    </form>
  );
}

export interface GitTokenDetailProps {
  readonly id: string;
  readonly whyNot: string | undefined;
  readonly onClose: () => void;
}

export function GitTokenDetail({ id, whyNot, onClose }: GitTokenDetailProps) {
  const found = useTagged('getGitToken', { params: { id } });
  return (
    <Detail title={found.data?.data.name ?? 'Git token'} onClose={onClose}>
      <Loaded query={found}>
        {({ data: token, etag }) => (
          <>
            <Facts
              facts={[
                ['For', token.type === 'GIT' ? 'Repositories' : 'Registries of modules and providers'],
                ['Token', 'Encrypted. No reply contains it.'],
                ['Id', <code key="id">{id}</code>],
              ]}
            />
            <UsedBy uses={token.usedBy} />
            <Part title="Settings">
              <Settings found={{ data: token, etag }} whyNot={whyNot} />
            </Part>
            <div>
              <Removal
                operation="deleteGitToken"
                input={{ params: { id } }}
                refreshes={concerned}
                label="Delete token"
                question={`Delete ${token.name}?`}
                done="The token was deleted"
                whyNot={whyNot}
                onDone={onClose}
              >
                <p>Repositories that need it can then no longer be read.</p>
              </Removal>
            </div>
          </>
        )}
      </Loaded>
    </Detail>
  );
}

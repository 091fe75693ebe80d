/** One key of the organization. */
import { Group, Stack, TagsInput, Textarea, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { showDone } from '../../api/messages.ts';
import { type Reply } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { FormAlert } from '../../forms/FormAlert.tsx';
import { MemberSelect } from '../../records/choosers.tsx';
import { Detail } from '../../records/Detail.tsx';
import { Expiry } from '../../records/Expiry.tsx';
import { KeySecrets } from '../../records/KeySecrets.tsx';
import { Part } from '../../records/Part.tsx';
import { nameOfUser } from '../../records/person.tsx';
import { Removal } from '../../records/Removal.tsx';
import { roleName } from '../../records/roles.ts';
import { SaveButton } from '../../records/SaveButton.tsx';
import { useChangeForm } from '../../records/use-change-form.ts';
import { useCustomRoles } from '../../records/use-custom-roles.ts';
import { settle } from '../../records/use-edited.ts';
import { Facts } from '../../ui/Facts.tsx';
import { TimeAgo } from '../../ui/Time.tsx';

type DetailedApiKey = Reply<'listApiKeys'>[number];

function Settings({
  apiKey,
  whyNot,
}: {
  readonly apiKey: DetailedApiKey;
  readonly whyNot: string | undefined;
}) {
  const form = useForm({
    initialValues: {
      name: apiKey.name,
      description: apiKey.description ?? '',
      ownerId: apiKey.ownerId ?? null,
      networks: apiKey.networks ?? [],
    },
    validate: { name: (name) => (name.trim() === '' ? 'A name is needed.' : null) },
  });
  const { change, problem } = useChangeForm('updateApiKey', {
    form,
    refreshes: ['listApiKeys', 'listMembers'],
    onSuccess: (_reply, _input, sent) => {
      settle(form, sent);
      showDone('The key was changed');
    },
  });
  return (
    <form noValidate onSubmit={form.onSubmit((body) => change.mutate({ params: { id: apiKey.id }, body }))}>
      <FormAlert mb="md" error={problem} />
      <Stack gap="sm">
        <TextInput label="Name" required {...form.getInputProps('name')} />
        <Textarea label="What for" autosize minRows={2} {...form.getInputProps('description')} />
        <MemberSelect isPerson clearable label="Who answers for it" {...form.getInputProps('ownerId')} />
        <TagsInput
          label="Networks"
          description="None: it is accepted from everywhere."
          {...form.getInputProps('networks')}
        />
        <SaveButton isDirty={form.isDirty()} isBusy={change.isPending} whyNot={whyNot} />
      </Stack>
    </form>
  );
}

export interface ApiKeyDetailProps {
  readonly apiKey: DetailedApiKey;
  readonly whyNot: string | undefined;
  readonly onClose: () => void;
}

export function ApiKeyDetail({ apiKey, whyNot, onClose }: ApiKeyDetailProps) {
  const { organizationId } = useSession();
  const custom = useCustomRoles(organizationId);
  const { id, name, apiKeyId, organizationRole, createdAt, createdByUser, lastUsedAt, expiresAt } = apiKey;
  return (
    <Detail title={name} onClose={onClose}>
      <Facts
        facts={[
          ['User name', <code key="id">{apiKeyId}</code>],
          ['Role', <bdi key="role">{roleName(organizationRole, custom)}</bdi>],
          ['Made', <TimeAgo key="made" at={createdAt} />],
          ['By', createdByUser && <bdi key="by">{nameOfUser(createdByUser)}</bdi>],
          ['Last used', lastUsedAt ? <TimeAgo at={lastUsedAt} /> : 'Never'],
          ['Ends', <Expiry key="ends" at={expiresAt} />],
          ['Id of its user', <code key="user">{id}</code>],
        ]}
      />
      <KeySecrets apiKey={apiKey} isPersonal={false} whyNot={whyNot} />
      <Part title="Settings">
        <Settings apiKey={apiKey} whyNot={whyNot} />
      </Part>
      <Group>
        <Removal
          operation="deleteApiKey"
          input={{ params: { id } }}
          refreshes={['listApiKeys', 'listMembers', 'listTeams']}
          label="Delete key"
          question={`Delete ${name}?`}
          done="The key was deleted"
          whyNot={whyNot}
          onDone={onClose}
        >
          <p>It is refused from the next request on. Its roles and memberships end.</p>
        </Removal>
      </Group>
    </Detail>
  );
}

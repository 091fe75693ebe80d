/** One key of the organization. */
import { Group, TagsInput, Textarea } from '@mantine/core';
import { type Reply } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { NameField } from '../../forms/NameFields.tsx';
import { validateName } from '../../forms/validate-name.ts';
import { MemberSelect } from '../../records/choosers.tsx';
import { Detail } from '../../records/Detail.tsx';
import { Expiry } from '../../records/Expiry.tsx';
import { KeySecrets } from '../../records/KeySecrets.tsx';
import { Part } from '../../records/Part.tsx';
import { nameOfUser } from '../../records/person.tsx';
import { RecordForm } from '../../records/RecordForm.tsx';
import { Removal } from '../../records/Removal.tsx';
import { roleName } from '../../records/roles.ts';
import { useCustomRoles } from '../../records/use-custom-roles.ts';
import { Facts } from '../../ui/Facts.tsx';
import { TimeAgo } from '../../ui/Time.tsx';

type DetailedApiKey = Reply<'listApiKeys'>[number];

const valuesOf = ({ name, description, ownerId, networks }: DetailedApiKey) => ({
  name,
  description,
  ownerId,
  networks,
});

function Settings({ apiKey, whyNot }: Pick<ApiKeyDetailProps, 'apiKey' | 'whyNot'>) {
  return (
    <RecordForm
      record={{ data: apiKey, etag: undefined }}
      valuesOf={valuesOf}
      validate={{ name: validateName }}
      operation="updateApiKey"
      refreshes={['listApiKeys', 'listMembers']}
      inputOf={(body) => ({ params: { id: apiKey.id }, body })}
      done="The key was changed"
      whyNot={whyNot}
    >
      {(form) => (
        <>
          <NameField {...form.getInputProps('name')} />
          <Textarea label="What for" autosize minRows={2} {...form.getInputProps('description')} />
          <MemberSelect isPerson clearable label="Owner" {...form.getInputProps('ownerId')} />
          <TagsInput
            label="Networks"
            description="None: it is accepted from everywhere."
            {...form.getInputProps('networks')}
          />
        </>
      )}
    </RecordForm>
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
          <p>Its next request is refused. Its roles and memberships end.</p>
        </Removal>
      </Group>
    </Detail>
  );
}

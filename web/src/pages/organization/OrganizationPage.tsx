/** The organization: its name, its policies, and others that the person belongs to. */
import { Textarea, TextInput } from '@mantine/core';
import { type Reply, type Tagged, useTagged } from '../../api/queries.ts';
import { useRights } from '../../api/rights.ts';
import { useSession } from '../../api/session.ts';
import { NameField } from '../../forms/NameFields.tsx';
import { Part } from '../../records/Part.tsx';
import { RecordForm } from '../../records/RecordForm.tsx';
import { UrlTabs } from '../../records/UrlTabs.tsx';
import { callOf } from '../../ui/calls.ts';
import { Facts } from '../../ui/Facts.tsx';
import { Loaded } from '../../ui/Loaded.tsx';
import { Page } from '../../ui/Page.tsx';
import { TimeAgo } from '../../ui/Time.tsx';
import { Organizations } from './Organizations.tsx';
import { PoliciesForm } from './PoliciesForm.tsx';

type OrganizationReply = Reply<'getOrganization'>;

interface OrganizationFormProps {
  readonly record: Tagged<OrganizationReply>;
  readonly whyNot: string | undefined;
}

const valuesOf = ({ name, description = '', photoUrl = '' }: OrganizationReply) => ({
  name,
  description,
  photoUrl,
});

const validate = {
  name: (name: string) =>
    /^[a-zA-Z0-9][a-zA-Z0-9_ -]{0,49}$/.test(name)
      ? null
      : 'Up to 50 letters, digits, spaces, hyphens and underscores; the first is a letter or a digit.',
};

function SettingsForm({ record, whyNot }: OrganizationFormProps) {
  return (
    <RecordForm
      record={record}
      valuesOf={valuesOf}
      validate={validate}
      operation="updateOrganization"
      refreshes={['getOrganization', 'listOrganizations', 'getCurrentUser']}
      inputOf={(body) => ({ params: { id: record.data.id }, body })}
      done="The organization was changed"
      whyNot={whyNot}
      question="Leave without saving the changed settings?"
      gap="md"
      maxWidth="40rem"
    >
      {(form) => (
        <>
          <NameField {...form.getInputProps('name')} />
          <Textarea label="Description" autosize minRows={2} {...form.getInputProps('description')} />
          <TextInput
            label="Address of a logo"
            description="Stored for clients. This interface loads no pictures from elsewhere."
            {...form.getInputProps('photoUrl')}
          />
        </>
      )}
    </RecordForm>
  );
}

function Settings({ record, whyNot }: OrganizationFormProps) {
  const { id, createdAt, role } = record.data;
  return (
    <>
      <Part title="Name and description">
        <SettingsForm record={record} whyNot={whyNot} />
      </Part>
      <Part title="Facts">
        <Facts
          facts={[
            ['Id', <code key="id">{id}</code>],
            ['Created', <TimeAgo key="at" at={createdAt} />],
            ['Your role', role],
          ]}
        />
      </Part>
    </>
  );
}

export function OrganizationPage() {
  const { organizationId } = useSession();
  const whyNot = useRights({ organizationId }).whyNot('EDIT_ORGANIZATION_SETTINGS');
  const params = { id: organizationId };
  const found = useTagged('getOrganization', { params });
  return (
    <Page
      title="Organization"
      lead="The organization owns projects, people, keys and settings."
      calls={[
        callOf('Show the organization', 'getOrganization', { params }, [
          'organization',
          'show',
          organizationId,
        ]),
        callOf('Change policies', 'updateOrganizationPolicies', { params, body: { maxTtl: '2-w' } }, [
          'organization',
          'policies',
          '--max-ttl',
          '2w',
        ]),
      ]}
    >
      <UrlTabs
        tabs={[
          {
            value: 'settings',
            label: 'Settings',
            content: () => (
              <Loaded query={found}>{(data) => <Settings record={data} whyNot={whyNot} />}</Loaded>
            ),
          },
          {
            value: 'policies',
            label: 'Policies',
            content: () => (
              <Loaded query={found}>{(data) => <PoliciesForm record={data} whyNot={whyNot} />}</Loaded>
            ),
          },
          { value: 'all', label: 'Your organizations', content: () => <Organizations /> },
        ]}
      />
    </Page>
  );
}

/** Credentials of clouds, which runs get. */
import { credentialKinds } from '#contract/credentials/kinds.ts';
import { useRead } from '../../api/queries.ts';
import { useRights } from '../../api/rights.ts';
import { useSession } from '../../api/session.ts';
import { NameField } from '../../forms/NameFields.tsx';
import { ProjectSelect, useProjects } from '../../forms/ProjectSelect.tsx';
import { pathOf } from '../../forms/project-tree.ts';
import { validateName } from '../../forms/validate-name.ts';
import { OpenLink } from '../../records/Detail.tsx';
import { NewRecord } from '../../records/NewRecord.tsx';
import { RecordsPage } from '../../records/RecordsPage.tsx';
import { callOf } from '../../ui/calls.ts';
import { type Column } from '../../ui/DataTable.tsx';
import { TimeAgo } from '../../ui/Time.tsx';
import { CredentialDetail } from './CredentialDetail.tsx';
import { type CredentialValues, KindSelect, ValueFields } from './CredentialFields.tsx';
import { kindNames, type ListedCredential, problemsOf, valueOf } from './credential-kinds.ts';

interface NewCredentialProps {
  readonly organizationId: string;
  readonly onClose: () => void;
}

const newCredential: CredentialValues = { name: '', type: 'AWS_OIDC', projectId: '', value: {} };

/** Stores a cloud credential. */
function NewCredential({ organizationId, onClose }: NewCredentialProps) {
  return (
    <NewRecord
      title="New cloud credential"
      lead="Its values are stored encrypted and never shown again. Runs get it once it is assigned to a project."
      verb="Store credential"
      done="The credential was stored"
      operation="createCredential"
      refreshes={['listCredentials']}
      initialValues={newCredential}
      validate={({ name, type, value }) => ({
        name: validateName(name),
        ...problemsOf(type, value),
      })}
      inputOf={({ name, type, projectId, value }) => ({
        body: {
          name,
          type,
          value: valueOf(type, value),
          ...(projectId === '' ? { organizationId } : { projectId }),
        },
      })}
      idOf={({ id }) => id}
      onClose={onClose}
    >
      {(form) => (
        <>
          <NameField data-autofocus {...form.getInputProps('name')} />
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
        </>
      )}
    </NewRecord>
  );
}

function useColumns(): readonly Column<ListedCredential>[] {
  const { projects } = useProjects();
  return [
    { id: 'name', head: 'Name', cell: ({ id, name }) => <OpenLink id={id}>{name}</OpenLink> },
    { id: 'kind', head: 'Kind', cell: ({ type }) => kindNames[type] },
    {
      id: 'home',
      head: 'Belongs to',
      isMinor: true,
      cell: ({ projectId }) =>
        projectId ? <bdi>{pathOf(projects, projectId) || projectId}</bdi> : 'Organization',
    },
    {
      id: 'for',
      head: 'For',
      isMinor: true,
      cell: ({ type }) => (credentialKinds[type].isForRuns ? 'Runs' : 'Costs'),
    },
    { id: 'changed', head: 'Changed', isMinor: true, cell: ({ updatedAt }) => <TimeAgo at={updatedAt} /> },
  ];
}

const createCall = (organizationId: string) => {
  const roleArn = 'arn:aws:iam::123456789012:role/deployer';
  return callOf(
    'Store a credential',
    'createCredential',
    { body: { organizationId, name: 'deployer', type: 'AWS_OIDC', value: { roleArn } } },
    ['credentials', 'create', 'deployer', '--type', 'AWS_OIDC', '--field', `roleArn=${roleArn}`],
  );
};

export function CredentialsPage() {
  const { organizationId } = useSession();
  const whyNot = useRights({ organizationId }).whyNot('EDIT_ORGANIZATION_SETTINGS');
  const query = { organizationId };
  const credentials = useRead('listCredentials', { query });
  const detail = (openId: string, onClose: () => void) => {
    const opened = credentials.data?.find(({ id }) => id === openId);
    return opened && <CredentialDetail credential={opened} onClose={onClose} />;
  };
  return (
    <RecordsPage
      title="Cloud credentials"
      lead="Runs get at most one for each cloud: the one that is assigned nearest to their project."
      calls={[
        callOf('List credentials', 'listCredentials', { query }, ['credentials', 'list']),
        createCall(organizationId),
      ]}
      verb="New credential"
      whyNot={whyNot}
      query={credentials}
      rowsOf={(rows) => rows}
      columns={useColumns()}
      idOf={({ id }) => id}
      empty={[
        'No credentials yet',
        'A credential gives runs access to a cloud, without a secret in variables. With OIDC, no secret is stored at all.',
      ]}
      detail={detail}
      dialog={(onClose) => <NewCredential organizationId={organizationId} onClose={onClose} />}
    />
  );
}

/** Agents, which run deployments, with their health. */
import { Textarea } from '@mantine/core';
import { useRead } from '../../api/queries.ts';
import { useRights } from '../../api/rights.ts';
import { useSession } from '../../api/session.ts';
import { Status } from '../../design/status.tsx';
import { NameField } from '../../forms/NameFields.tsx';
import { validateName } from '../../forms/validate-name.ts';
import { OpenLink } from '../../records/Detail.tsx';
import { NewRecord } from '../../records/NewRecord.tsx';
import { RecordsPage } from '../../records/RecordsPage.tsx';
import { callOf } from '../../ui/calls.ts';
import { type Column } from '../../ui/DataTable.tsx';
import { AgentDetail } from './AgentDetail.tsx';
import { agentLook, type ListedAgent, loadText } from './agent-words.ts';

const columns: readonly Column<ListedAgent>[] = [
  {
    id: 'name',
    head: 'Name',
    cell: ({ agentKey, name }) => <OpenLink id={agentKey}>{name ?? agentKey}</OpenLink>,
  },
  { id: 'status', head: 'Status', cell: (agent) => <Status look={agentLook(agent)} /> },
  {
    id: 'processes',
    head: 'Processes',
    isNumber: true,
    isMinor: true,
    cell: ({ processes = [] }) => processes.length,
  },
  { id: 'load', head: 'Load', isMinor: true, cell: loadText },
  { id: 'version', head: 'Version', isMinor: true, cell: ({ version }) => version ?? '–' },
  {
    id: 'runs',
    head: 'Runs deployments of',
    isMinor: true,
    cell: ({ isSaas }) => (isSaas ? 'All organizations' : 'This organization'),
  },
  { id: 'default', head: 'Default', isMinor: true, cell: ({ isDefault }) => (isDefault ? 'Yes' : '') },
];

function NewAgent({ organizationId, onClose }: { organizationId: string; onClose: () => void }) {
  return (
    <NewRecord
      title="New agent"
      lead="It runs deployments of this organization only, close to your clouds. It connects to the service, never the other way round."
      verb="Create agent"
      done="The agent was created: now create a secret for it"
      operation="createAgent"
      refreshes={['listAgents']}
      initialValues={{ name: '', description: '' }}
      validate={{ name: validateName }}
      inputOf={(values) => ({ body: { organizationId, ...values } })}
      idOf={({ agentKey }) => agentKey}
      onClose={onClose}
    >
      {(form) => (
        <>
          <NameField data-autofocus {...form.getInputProps('name')} />
          <Textarea label="What for" autosize minRows={2} {...form.getInputProps('description')} />
        </>
      )}
    </NewRecord>
  );
}

export function AgentsPage() {
  const { organizationId } = useSession();
  const whyNot = useRights({ organizationId }).whyNot('EDIT_ORGANIZATION_SETTINGS');
  const agents = useRead('listAgents', { query: { organizationId } });
  const detail = (id: string, onClose: () => void) => {
    const opened = agents.data?.find(({ agentKey }) => agentKey === id);
    return opened && <AgentDetail agent={opened} whyNot={whyNot} onClose={onClose} />;
  };
  const create = callOf('Create an agent', 'createAgent', { body: { organizationId, name: 'cloud-a' } }, [
    'agent',
    'create',
    'cloud-a',
  ]);
  return (
    <RecordsPage
      title="Agents"
      lead="Agents run deployments: one next to the service, others close to your clouds and networks."
      calls={[callOf('List agents', 'listAgents', { query: { organizationId } }, ['agent', 'list']), create]}
      verb="New agent"
      whyNot={whyNot}
      query={agents}
      rowsOf={(rows) => rows}
      columns={columns}
      idOf={({ agentKey }) => agentKey}
      empty={['No agents yet', 'Without an agent, deployments wait.']}
      detail={detail}
      dialog={(onClose) => <NewAgent organizationId={organizationId} onClose={onClose} />}
    />
  );
}

/** Agents, which run deployments, with their health. */
import { Textarea, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { showDone } from '../../api/messages.ts';
import { useRead } from '../../api/queries.ts';
import { useRights } from '../../api/rights.ts';
import { useSession } from '../../api/session.ts';
import { Status } from '../../design/status.tsx';
import { OpenLink, useOpenRow } from '../../records/Detail.tsx';
import { FormDialog } from '../../records/FormDialog.tsx';
import { useChangeForm } from '../../records/use-change-form.ts';
import { ActionButton } from '../../ui/ActionButton.tsx';
import { callOf } from '../../ui/calls.ts';
import { type Column, DataTable } from '../../ui/DataTable.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { Loaded } from '../../ui/Loaded.tsx';
import { Page } from '../../ui/Page.tsx';
import { AgentDetail } from './AgentDetail.tsx';
import { agentLook, type ListedAgent } from './agent-words.ts';

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
  { id: 'version', head: 'Version', isMinor: true, cell: ({ version }) => version ?? '–' },
  {
    id: 'runs',
    head: 'Runs deployments of',
    isMinor: true,
    cell: ({ isDefault }) => (isDefault ? 'All organizations' : 'This organization'),
  },
];

function NewAgent({ organizationId, onClose }: { organizationId: string; onClose: () => void }) {
  const { open } = useOpenRow();
  const form = useForm({
    initialValues: { name: '', description: '' },
    validate: { name: (name) => (name.trim() === '' ? 'A name is needed.' : null) },
  });
  const { change, problem } = useChangeForm('createAgent', {
    form,
    refreshes: ['listAgents'],
    onSuccess: ({ agentKey }) => {
      showDone('The agent was created: make a secret for it next');
      onClose();
      open(agentKey);
    },
  });
  return (
    <FormDialog
      title="New agent"
      lead="It runs deployments of this organization only, close to your clouds. It connects to the service, never the other way round."
      verb="Create agent"
      isBusy={change.isPending}
      problem={problem}
      onClose={onClose}
      onSubmit={form.onSubmit((values) => change.mutate({ body: { organizationId, ...values } }))}
    >
      <TextInput label="Name" required data-autofocus autoComplete="off" {...form.getInputProps('name')} />
      <Textarea label="What for" autosize minRows={2} {...form.getInputProps('description')} />
    </FormDialog>
  );
}

export function AgentsPage() {
  const { organizationId } = useSession();
  const whyNot = useRights({ organizationId }).whyNot('EDIT_ORGANIZATION_SETTINGS');
  const [isCreating, setCreating] = useState(false);
  const { open, openId, close } = useOpenRow();
  const agents = useRead('listAgents', { query: { organizationId } });
  const opened = agents.data?.find(({ agentKey }) => agentKey === openId);
  const create = callOf('Create an agent', 'createAgent', { body: { organizationId, name: 'cloud-a' } }, [
    'agent',
    'create',
    'cloud-a',
  ]);
  const button = (
    <ActionButton size="xs" whyNot={whyNot} onClick={() => setCreating(true)}>
      New agent
    </ActionButton>
  );
  return (
    <Page
      title="Agents"
      lead="Agents run deployments: one next to the service, others close to your clouds and networks."
      calls={[callOf('List agents', 'listAgents', { query: { organizationId } }, ['agent', 'list']), create]}
      actions={button}
    >
      <Loaded query={agents}>
        {(rows) =>
          rows.length === 0 ? (
            <EmptyState title="There is no agent" call={create} action={button}>
              Without an agent, deployments wait.
            </EmptyState>
          ) : (
            <DataTable
              label="Agents"
              columns={columns}
              rows={rows}
              idOf={({ agentKey }) => agentKey}
              onOpen={({ agentKey }) => open(agentKey)}
            />
          )
        }
      </Loaded>
      {opened && <AgentDetail key={opened.agentKey} agent={opened} whyNot={whyNot} onClose={close} />}
      {isCreating && <NewAgent organizationId={organizationId} onClose={() => setCreating(false)} />}
    </Page>
  );
}

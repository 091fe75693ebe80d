/** A connection to a forge is stored, changed and deleted. */
import { Select, TextInput } from '@mantine/core';
import type { VcsConnectionType } from '#contract/vcs-connections/connection-types.ts';
import { type Reply, type Tagged, useRead, useTagged } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { NameField } from '../../forms/NameFields.tsx';
import { validateName } from '../../forms/validate-name.ts';
import { NewRecord } from '../../records/NewRecord.tsx';
import { RecordDetail } from '../../records/RecordDetail.tsx';
import { RecordForm } from '../../records/RecordForm.tsx';
import { Facts } from '../../ui/Facts.tsx';
import { forgeNames } from './forge-names.ts';
import { UsedBy } from './UsedBy.tsx';

const concerned = ['listVcsConnections', 'getVcsConnection'] as const;

/** Tokens and agents of the organization, as choices. */
function useChoices() {
  const { organizationId } = useSession();
  const tokens = useRead('listGitTokens', { query: { organizationId, type: 'GIT' } });
  const agents = useRead('listAgents', { query: { organizationId } });
  return {
    tokens: (tokens.data ?? []).map(({ id, name }) => ({ value: id, label: name })),
    agents: (agents.data ?? []).map(({ agentKey, name }) => ({ value: agentKey, label: name ?? agentKey })),
  };
}

interface ChoicesProps {
  readonly token: object;
  readonly agent: object;
}

function Choices({ token, agent }: ChoicesProps) {
  const { tokens, agents } = useChoices();
  return (
    <>
      <Select
        label="Git token"
        description="Sent to repositories on the host of the address that have no token of their own."
        placeholder="None"
        clearable
        searchable
        data={tokens}
        {...token}
      />
      <Select
        label="Agent that reaches it"
        placeholder="The default agent"
        clearable
        data={agents}
        {...agent}
      />
    </>
  );
}

interface NewVcsConnectionProps {
  readonly organizationId: string;
  readonly onClose: () => void;
}

const newConnection = {
  name: '',
  type: 'GitLabEnterprise' as VcsConnectionType,
  url: '',
  tokenId: null as string | null,
  vcsAgentKey: null as string | null,
};

export function NewVcsConnection({ organizationId, onClose }: NewVcsConnectionProps) {
  return (
    <NewRecord
      title="New connection"
      verb="Store connection"
      done="The connection was stored"
      operation="createVcsConnection"
      refreshes={concerned}
      initialValues={newConnection}
      validate={{
        name: validateName,
        url: (url) =>
          URL.canParse(url) ? null : 'A complete address is required, such as https://git.example.com.',
      }}
      inputOf={({ vcsAgentKey, ...values }) => ({
        body: { organizationId, ...values, ...(vcsAgentKey ? { vcsAgentKey } : {}) },
      })}
      idOf={({ id }) => id}
      onClose={onClose}
    >
      {(form) => (
        <>
          <NameField data-autofocus {...form.getInputProps('name')} />
          <Select
            label="Forge"
            allowDeselect={false}
            data={Object.entries(forgeNames).map(([value, label]) => ({ value, label }))}
            {...form.getInputProps('type')}
          />
          <TextInput
            label="Address"
            required
            placeholder="https://git.example.com"
            {...form.getInputProps('url')}
          />
          <Choices token={form.getInputProps('tokenId')} agent={form.getInputProps('vcsAgentKey')} />
        </>
      )}
    </NewRecord>
  );
}

type VcsConnectionReply = Reply<'getVcsConnection'>;

const valuesOf = ({ name, tokenId, vcsAgentKey }: VcsConnectionReply) => ({
  name,
  tokenId: tokenId ?? null,
  vcsAgentKey: vcsAgentKey as string | null,
});

function Settings({ record, whyNot }: { record: Tagged<VcsConnectionReply>; whyNot: string | undefined }) {
  return (
    <RecordForm
      record={record}
      valuesOf={valuesOf}
      validate={{ name: validateName }}
      operation="updateVcsConnection"
      refreshes={concerned}
      inputOf={(values) => ({
        params: { id: record.data.id },
        body: { ...values, vcsAgentKey: values.vcsAgentKey ?? '' },
      })}
      done="The connection was changed"
      whyNot={whyNot}
    >
      {(form) => (
        <>
          <NameField {...form.getInputProps('name')} />
          <Choices token={form.getInputProps('tokenId')} agent={form.getInputProps('vcsAgentKey')} />
        </>
      )}
    </RecordForm>
  );
}

export interface VcsConnectionDetailProps {
  readonly id: string;
  readonly whyNot: string | undefined;
  readonly onClose: () => void;
}

export function VcsConnectionDetail({ id, whyNot, onClose }: VcsConnectionDetailProps) {
  return (
    <RecordDetail
      query={useTagged('getVcsConnection', { params: { id } })}
      noun="connection"
      facts={({ data: connection }) => (
        <>
          <Facts
            facts={[
              ['Forge', forgeNames[connection.type]],
              ['Address', <code key="url">{connection.url}</code>],
              ['Id', <code key="id">{id}</code>],
            ]}
          />
          <UsedBy uses={connection.usedBy} />
        </>
      )}
      settings={(record) => <Settings record={record} whyNot={whyNot} />}
      removal={{ operation: 'deleteVcsConnection', input: { params: { id } }, refreshes: concerned }}
      meaning="A connection that a template or an active environment uses cannot be deleted."
      whyNot={whyNot}
      onClose={onClose}
    />
  );
}

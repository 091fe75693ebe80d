/** A connection to a forge is stored, changed and deleted. */
import { Select, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { VcsConnectionType } from '#contract/vcs-connections/connection-types.ts';
import { showDone } from '../../api/messages.ts';
import { type Reply, type Tagged, useRead, useTagged } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { Detail, useOpenRow } from '../../records/Detail.tsx';
import { FormDialog } from '../../records/FormDialog.tsx';
import { Part } from '../../records/Part.tsx';
import { Removal } from '../../records/Removal.tsx';
import { SaveButton } from '../../records/SaveButton.tsx';
import { StaleAlert } from '../../records/StaleAlert.tsx';
import { useChangeForm } from '../../records/use-change-form.ts';
import { settle, useEdited } from '../../records/use-edited.ts';
import { Facts } from '../../ui/Facts.tsx';
import { Loaded } from '../../ui/Loaded.tsx';
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

export function NewVcsConnection({
  organizationId,
  onClose,
}: {
  organizationId: string;
  onClose: () => void;
}) {
  const { open } = useOpenRow();
  const form = useForm({
    initialValues: {
      name: '',
      type: 'GitLabEnterprise' as VcsConnectionType,
      url: '',
      tokenId: null as string | null,
      vcsAgentKey: null as string | null,
    },
    validate: {
      name: (name) => (name.trim() === '' ? 'A name is needed.' : null),
      url: (url) =>
        URL.canParse(url) ? null : 'A whole address is needed, such as https://git.example.com.',
    },
  });
  const { change, problem } = useChangeForm('createVcsConnection', {
    form,
    refreshes: concerned,
    onSuccess: ({ id }) => {
      showDone('The connection was stored');
      onClose();
      open(id);
    },
  });
  return (
    <FormDialog
      title="New connection"
      verb="Store connection"
      isBusy={change.isPending}
      problem={problem}
      onClose={onClose}
      onSubmit={form.onSubmit(({ vcsAgentKey, ...values }) =>
        change.mutate({ body: { organizationId, ...values, ...(vcsAgentKey ? { vcsAgentKey } : {}) } }),
      )}
    >
      <TextInput label="Name" required data-autofocus autoComplete="off" {...form.getInputProps('name')} />
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
    </FormDialog>
  );
}

type VcsConnectionReply = Reply<'getVcsConnection'>;

interface VcsConnectionSettingsProps {
  readonly found: Tagged<VcsConnectionReply>;
  readonly whyNot: string | undefined;
}

const valuesOf = ({ name, tokenId, vcsAgentKey }: VcsConnectionReply) => ({
  name,
  tokenId: tokenId ?? null,
  vcsAgentKey: vcsAgentKey as string | null,
});

function Settings({ found, whyNot }: VcsConnectionSettingsProps) {
  const { id } = found.data;
  const form = useForm({
    initialValues: valuesOf(found.data),
    validate: { name: (text) => (text.trim() === '' ? 'A name is needed.' : null) },
  });
  const edited = useEdited(found, form, valuesOf);
  const { change, problem } = useChangeForm('updateVcsConnection', {
    form,
    refreshes: concerned,
    onSuccess: (_reply, _input, sent) => {
      settle(form, sent);
      showDone('The connection was changed');
    },
  });
  return (
    <form
      noValidate
      onSubmit={form.onSubmit((values) =>
        change.mutate({
          params: { id },
          body: { ...values, vcsAgentKey: values.vcsAgentKey ?? '' },
          ifMatch: edited.version(),
        }),
      )}
    >
      <Stack gap="sm">
        <StaleAlert error={problem} onShow={edited.showLatest} />
        <TextInput label="Name" required {...form.getInputProps('name')} />
        <Choices token={form.getInputProps('tokenId')} agent={form.getInputProps('vcsAgentKey')} />
        <SaveButton isDirty={form.isDirty()} isBusy={change.isPending} whyNot={whyNot} />
      </Stack>
    </form>
  );
}

export interface VcsConnectionDetailProps {
  readonly id: string;
  readonly whyNot: string | undefined;
  readonly onClose: () => void;
}

export function VcsConnectionDetail({ id, whyNot, onClose }: VcsConnectionDetailProps) {
  const found = useTagged('getVcsConnection', { params: { id } });
  return (
    <Detail title={found.data?.data.name ?? 'Connection'} onClose={onClose}>
      <Loaded query={found}>
        {({ data: connection, etag }) => (
          <>
            <Facts
              facts={[
                ['Forge', forgeNames[connection.type]],
                ['Address', <code key="url">{connection.url}</code>],
                ['Id', <code key="id">{id}</code>],
              ]}
            />
            <UsedBy uses={connection.usedBy} />
            <Part title="Settings">
              <Settings found={{ data: connection, etag }} whyNot={whyNot} />
            </Part>
            <div>
              <Removal
                operation="deleteVcsConnection"
                input={{ params: { id } }}
                refreshes={concerned}
                label="Delete connection"
                question={`Delete ${connection.name}?`}
                done="The connection was deleted"
                whyNot={whyNot}
                onDone={onClose}
              >
                <p>A connection that a template or an active environment names is not deleted.</p>
              </Removal>
            </div>
          </>
        )}
      </Loaded>
    </Detail>
  );
}

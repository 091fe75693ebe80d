/** Tokens with which an identity provider manages people and teams. */
import { useState } from 'react';
import { type Reply, useChange, useRead } from '../../api/queries.ts';
import { FormAlert } from '../../forms/FormAlert.tsx';
import { Part } from '../../records/Part.tsx';
import { nameOfUser } from '../../records/person.tsx';
import { Removal } from '../../records/Removal.tsx';
import { SecretDialog } from '../../records/SecretDialog.tsx';
import { ActionButton } from '../../ui/ActionButton.tsx';
import { callOf } from '../../ui/calls.ts';
import { type Column, DataTable } from '../../ui/DataTable.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { Loaded } from '../../ui/Loaded.tsx';
import { TimeAgo } from '../../ui/Time.tsx';

type ListedScimToken = Reply<'listScimTokens'>[number];

export interface ScimTokensProps {
  readonly organizationId: string;
  readonly whyNot: string | undefined;
}

function columnsOf({ organizationId, whyNot }: ScimTokensProps): readonly Column<ListedScimToken>[] {
  return [
    { id: 'made', head: 'Made', cell: ({ createdAt }) => <TimeAgo at={createdAt} /> },
    { id: 'by', head: 'By', cell: ({ createdByUser }) => <bdi>{nameOfUser(createdByUser)}</bdi> },
    {
      id: 'used',
      head: 'Last used',
      cell: ({ lastUsedAt }) => (lastUsedAt ? <TimeAgo at={lastUsedAt} /> : 'Never'),
    },
    {
      id: 'do',
      head: '',
      cell: ({ id }) => (
        <Removal
          operation="deleteScimToken"
          input={{ params: { id: organizationId, tokenId: id } }}
          refreshes={['listScimTokens']}
          label="Revoke"
          question="Revoke this token?"
          done="The token was revoked"
          whyNot={whyNot}
        >
          <p>The next request of the identity provider with it is refused.</p>
        </Removal>
      ),
    },
  ];
}

function NewToken({ made, onClose }: { made: Reply<'createScimToken'>; onClose: () => void }) {
  return (
    <SecretDialog
      title="The token for the identity provider"
      what="The token"
      lead="Enter both in the settings of the identity provider."
      values={[
        { label: 'Address', value: made.url },
        { label: 'Token', value: made.token },
      ]}
      onClose={onClose}
    />
  );
}

export function ScimTokens({ organizationId, whyNot }: ScimTokensProps) {
  const params = { id: organizationId };
  const tokens = useRead('listScimTokens', { params }, { enabled: whyNot === undefined });
  const [made, setMade] = useState<Reply<'createScimToken'>>();
  const create = useChange('createScimToken', {
    refreshes: ['listScimTokens'],
    onSuccess: setMade,
    onError: () => true,
  });
  const isFull = (tokens.data?.length ?? 0) >= 2;
  const button = (
    <ActionButton
      size="xs"
      variant="default"
      loading={create.isPending}
      whyNot={whyNot ?? (isFull ? 'An organization has two tokens at most: revoke one first.' : undefined)}
      onClick={() => create.mutate({ params })}
    >
      New token
    </ActionButton>
  );
  if (whyNot !== undefined) return <EmptyState title="You cannot see the tokens">{whyNot}</EmptyState>;
  return (
    <Part
      title="SCIM tokens"
      lead="With a token, your identity provider creates, changes and deactivates people and teams of this organization. Its holder can put people into any team."
      actions={button}
    >
      <FormAlert mb="md" error={create.error} />
      <Loaded query={tokens} lines={2}>
        {(rows) =>
          rows.length === 0 ? (
            <EmptyState
              title="No identity provider provisions people here"
              call={callOf('Create a token', 'createScimToken', { params })}
            >
              Create a token, and enter it at the identity provider together with the address that is shown
              then.
            </EmptyState>
          ) : (
            <DataTable
              label="SCIM tokens"
              columns={columnsOf({ organizationId, whyNot })}
              rows={rows}
              idOf={({ id }) => id}
            />
          )
        }
      </Loaded>
      {made && <NewToken made={made} onClose={() => setMade(undefined)} />}
    </Part>
  );
}

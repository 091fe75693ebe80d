/** The secrets of an agent: made, shown once, and revoked. */
import { TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { baseUrl } from '../../api/client.ts';
import { type Reply, useRead } from '../../api/queries.ts';
import { Expiry } from '../../records/Expiry.tsx';
import { FormDialog } from '../../records/FormDialog.tsx';
import { SpanSelect } from '../../records/KeyLimits.tsx';
import { expiryOf, type KeySpan } from '../../records/key-limits.ts';
import { Part } from '../../records/Part.tsx';
import { nameOfUser } from '../../records/person.tsx';
import { Removal } from '../../records/Removal.tsx';
import classes from '../../records/records.module.css';
import { SecretDialog } from '../../records/SecretDialog.tsx';
import { useChangeForm } from '../../records/use-change-form.ts';
import { ActionButton } from '../../ui/ActionButton.tsx';
import { Loaded } from '../../ui/Loaded.tsx';
import { TimeAgo } from '../../ui/Time.tsx';
import { startCommand } from './agent-words.ts';

export interface AgentSecretsProps {
  readonly agentKey: string;
  readonly whyNot: string | undefined;
}

function NewSecret({ agentKey, onClose }: { agentKey: string; onClose: () => void }) {
  const [secret, setSecret] = useState<string>();
  const form = useForm({ initialValues: { description: '', span: 'never' as KeySpan } });
  const { change, problem } = useChangeForm('createAgentSecret', {
    form,
    fields: { expiresAt: 'span' },
    refreshes: ['listAgentSecrets'],
    onSuccess: (made) => setSecret(made.secret),
  });
  if (secret !== undefined)
    return (
      <SecretDialog
        title="The secret of the agent"
        what="The secret"
        lead="Write it to a file that only the agent reads, and start the agent there."
        values={[
          { label: 'Key', value: agentKey },
          { label: 'Secret', value: secret },
        ]}
        commands={[
          { label: 'Secret', value: 'install -m 600 /dev/stdin agent.secret' },
          { label: 'Start', value: startCommand(baseUrl.replace(/\/$/, ''), agentKey) },
        ]}
        onClose={onClose}
      />
    );
  return (
    <FormDialog
      title="New secret"
      lead="All processes of the agent may share a secret. An agent has at most two, so that a new one can replace the old one without a pause."
      verb="Create secret"
      isBusy={change.isPending}
      problem={problem}
      onClose={onClose}
      onSubmit={form.onSubmit(({ description, span }) =>
        change.mutate({
          params: { agentKey },
          body: { description, expiresAt: expiryOf(span, Date.now()) },
        }),
      )}
    >
      <TextInput
        label="Where it is used"
        data-autofocus
        autoComplete="off"
        {...form.getInputProps('description')}
      />
      <SpanSelect {...form.getInputProps('span')} />
    </FormDialog>
  );
}

function List({ agentKey, whyNot, rows }: AgentSecretsProps & { readonly rows: Reply<'listAgentSecrets'> }) {
  return (
    <ul className={classes.list}>
      {rows.length === 0 && <li>None: the agent cannot connect yet.</li>}
      {rows.map(({ id, description, createdAt, createdBy, lastUsedAt, expiresAt }) => (
        <li key={id}>
          <span>
            {description && (
              <>
                <bdi>{description}</bdi>,{' '}
              </>
            )}
            made <TimeAgo at={createdAt} /> by <bdi>{nameOfUser(createdBy)}</bdi>,{' '}
            {lastUsedAt ? (
              <>
                last used <TimeAgo at={lastUsedAt} />
              </>
            ) : (
              'not used yet'
            )}
            , ends: <Expiry at={expiresAt} />
          </span>
          <Removal
            operation="deleteAgentSecret"
            input={{ params: { agentKey, secretId: id }, query: {} }}
            refreshes={['listAgentSecrets']}
            label="Revoke"
            question="Revoke this secret?"
            done="The secret was revoked"
            whyNot={whyNot}
          >
            <p>The next call of a process that was started with it is refused.</p>
          </Removal>
        </li>
      ))}
    </ul>
  );
}

export function AgentSecrets({ agentKey, whyNot }: AgentSecretsProps) {
  const [isMaking, setMaking] = useState(false);
  const secrets = useRead('listAgentSecrets', { params: { agentKey } }, { enabled: whyNot === undefined });
  return (
    <Part
      title="Secrets"
      actions={
        <ActionButton size="xs" variant="default" whyNot={whyNot} onClick={() => setMaking(true)}>
          New secret
        </ActionButton>
      }
    >
      {whyNot === undefined ? (
        <Loaded query={secrets} lines={2}>
          {(rows) => <List agentKey={agentKey} whyNot={whyNot} rows={rows} />}
        </Loaded>
      ) : (
        <p>{whyNot}</p>
      )}
      {isMaking && <NewSecret agentKey={agentKey} onClose={() => setMaking(false)} />}
    </Part>
  );
}

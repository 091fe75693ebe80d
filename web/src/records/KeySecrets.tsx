/** The secrets of a key: a second one while its users change to it. */
import { useState } from 'react';
import { showDone } from '../api/messages.ts';
import { type Reply, useChange } from '../api/queries.ts';
import { FormAlert } from '../forms/FormAlert.tsx';
import { ActionButton } from '../ui/ActionButton.tsx';
import { TimeAgo } from '../ui/Time.tsx';
import { KeySecret } from './KeySecret.tsx';
import { Part } from './Part.tsx';
import { Removal } from './Removal.tsx';
import classes from './records.module.css';

type KeyWithSecrets = Pick<Reply<'listApiKeys'>[number], 'id' | 'secrets'>;

export interface KeySecretsProps {
  readonly apiKey: KeyWithSecrets;
  /** Whether it acts as the person who has it. */
  readonly isPersonal: boolean;
  readonly whyNot: string | undefined;
}

const concerned = ['listApiKeys', 'listPersonalApiKeys', 'getApiKey'] as const;

export function KeySecrets({ apiKey: { id, secrets }, isPersonal, whyNot }: KeySecretsProps) {
  const [made, setMade] = useState<Reply<'addApiKeySecret'>>();
  const add = useChange(isPersonal ? 'addPersonalApiKeySecret' : 'addApiKeySecret', {
    refreshes: concerned,
    onSuccess: (reply) => {
      setMade(reply);
      showDone('The key has a second secret');
    },
    onError: () => true,
  });
  const isLast = secrets.length < 2;
  return (
    <Part
      title="Secrets"
      lead="To replace a secret: add a second one, change the programs to it, delete the first one."
      actions={
        <ActionButton
          size="xs"
          variant="default"
          loading={add.isPending}
          whyNot={whyNot ?? (isLast ? undefined : 'A key has two secrets at most: delete one first.')}
          onClick={() => add.mutate({ params: { id } })}
        >
          Add a secret
        </ActionButton>
      }
    >
      <FormAlert mb="md" error={add.error} />
      <ul className={classes.list}>
        {secrets.map(({ id: secretId, createdAt, lastUsedAt }) => (
          <li key={secretId}>
            <span>
              Made <TimeAgo at={createdAt} />, {lastUsedAt ? 'used ' : 'never used'}
              {lastUsedAt && <TimeAgo at={lastUsedAt} />}
            </span>
            <Removal
              operation={isPersonal ? 'deletePersonalApiKeySecret' : 'deleteApiKeySecret'}
              input={{ params: { id, secretId } }}
              refreshes={concerned}
              label="Delete secret"
              question="Delete this secret?"
              done="The secret was deleted"
              whyNot={
                whyNot ??
                (isLast ? 'It is the only secret: delete the key, or add another first.' : undefined)
              }
            >
              <p>The next request of a program that still uses it is refused.</p>
            </Removal>
          </li>
        ))}
      </ul>
      {made && <KeySecret made={made} onClose={() => setMade(undefined)} />}
    </Part>
  );
}

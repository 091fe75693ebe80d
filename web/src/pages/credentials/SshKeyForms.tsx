/** An ssh key is stored, replaced and deleted. */
import { Textarea, type TextareaProps } from '@mantine/core';
import { type Reply, type Tagged, useTagged } from '../../api/queries.ts';
import { NameField } from '../../forms/NameFields.tsx';
import { validateName } from '../../forms/validate-name.ts';
import { NewRecord } from '../../records/NewRecord.tsx';
import { nameOfUser } from '../../records/person.tsx';
import { RecordDetail } from '../../records/RecordDetail.tsx';
import { RecordForm } from '../../records/RecordForm.tsx';
import { Facts } from '../../ui/Facts.tsx';
import { TimeAgo } from '../../ui/Time.tsx';
import { ProjectsField } from './ProjectsField.tsx';
import { UsedBy } from './UsedBy.tsx';

const mono = { input: { fontFamily: 'var(--e-mono)', fontSize: 'var(--e-text-sm)' } };
function PrivateKey(props: TextareaProps) {
  return <Textarea autosize maxRows={12} spellCheck={false} styles={mono} {...props} />;
}

const concerned = ['listSshKeys', 'getSshKey'] as const;

export function NewSshKey({ organizationId, onClose }: { organizationId: string; onClose: () => void }) {
  return (
    <NewRecord
      title="New ssh key"
      lead="It is stored encrypted and never shown again. Code in a run never sees it."
      verb="Store key"
      done="The key was stored"
      operation="createSshKey"
      refreshes={concerned}
      initialValues={{ name: '', value: '', projectIds: [] as string[] }}
      validate={{
        name: validateName,
        value: (value) => (value.includes('PRIVATE KEY') ? null : 'The whole private key file is required.'),
      }}
      inputOf={(values) => ({ body: { organizationId, ...values } })}
      idOf={({ id }) => id}
      onClose={onClose}
    >
      {(form) => (
        <>
          <NameField data-autofocus {...form.getInputProps('name')} />
          <PrivateKey
            label="Private key"
            description="In OpenSSH or PEM format, without a passphrase."
            required
            minRows={6}
            {...form.getInputProps('value')}
          />
          <ProjectsField form={form} />
        </>
      )}
    </NewRecord>
  );
}

type SshKeyReply = Reply<'getSshKey'>;

const valuesOf = ({ projectIds }: SshKeyReply) => ({ value: '', projectIds });

function Settings({ record, whyNot }: { record: Tagged<SshKeyReply>; whyNot: string | undefined }) {
  return (
    <RecordForm
      record={record}
      valuesOf={valuesOf}
      operation="updateSshKey"
      refreshes={concerned}
      inputOf={({ value, projectIds }) => ({
        params: { id: record.data.id },
        body: { projectIds, ...(value === '' ? {} : { value }) },
      })}
      storedOf={(sent) => ({ ...sent, value: '' })}
      done="The key was changed"
      whyNot={whyNot}
    >
      {(form) => (
        <>
          <PrivateKey
            label="New private key"
            placeholder="Empty: the stored one remains"
            minRows={3}
            {...form.getInputProps('value')}
          />
          <ProjectsField form={form} isStored />
        </>
      )}
    </RecordForm>
  );
}

export interface SshKeyDetailProps {
  readonly id: string;
  readonly whyNot: string | undefined;
  readonly onClose: () => void;
}

export function SshKeyDetail({ id, whyNot, onClose }: SshKeyDetailProps) {
  return (
    <RecordDetail
      query={useTagged('getSshKey', { params: { id } })}
      noun="key"
      facts={({ data: sshKey }) => (
        <>
          <Facts
            facts={[
              ['Private key', 'Stored encrypted, and never shown again.'],
              ['Stored by', <bdi key="by">{nameOfUser(sshKey.user)}</bdi>],
              ['Stored', <TimeAgo key="at" at={sshKey.createdAt} />],
              ['Id', <code key="id">{id}</code>],
            ]}
          />
          <UsedBy uses={sshKey.usedBy} />
        </>
      )}
      settings={(record) => <Settings record={record} whyNot={whyNot} />}
      removal={{ operation: 'deleteSshKey', input: { params: { id } }, refreshes: concerned }}
      meaning="Repositories that need it can then no longer be read."
      whyNot={whyNot}
      onClose={onClose}
    />
  );
}

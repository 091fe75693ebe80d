/** One git token: a new value, its hosts and projects, what uses it, and its end. */
import { PasswordInput, TagsInput } from '@mantine/core';
import { type Reply, type Tagged, useTagged } from '../../api/queries.ts';
import { NameField } from '../../forms/NameFields.tsx';
import { validateName } from '../../forms/validate-name.ts';
import { RecordDetail } from '../../records/RecordDetail.tsx';
import { RecordForm } from '../../records/RecordForm.tsx';
import { Facts } from '../../ui/Facts.tsx';
import { ProjectsField } from './ProjectsField.tsx';
import { UsedBy } from './UsedBy.tsx';

type GitTokenReply = Reply<'getGitToken'>;

const concerned = ['listGitTokens', 'getGitToken'] as const;

const valuesOf = ({ name, hosts, projectIds }: GitTokenReply) => ({ name, value: '', hosts, projectIds });

function Settings({ record, whyNot }: { record: Tagged<GitTokenReply>; whyNot: string | undefined }) {
  return (
    <RecordForm
      record={record}
      valuesOf={valuesOf}
      validate={{ name: validateName }}
      operation="updateGitToken"
      refreshes={concerned}
      inputOf={({ value, ...rest }) => ({
        params: { id: record.data.id },
        body: { ...rest, ...(value === '' ? {} : { value }) },
      })}
      storedOf={(sent) => ({ ...sent, value: '' })}
      done="The token was changed"
      whyNot={whyNot}
    >
      {(form) => (
        <>
          <NameField {...form.getInputProps('name')} />
          <PasswordInput
            label="New token"
            placeholder="Empty: the stored one remains"
            autoComplete="new-password"
            {...form.getInputProps('value')}
          />
          <TagsInput label="Hosts" {...form.getInputProps('hosts')} />
          <ProjectsField form={form} isStored />
        </>
      )}
    </RecordForm>
  );
}

export interface GitTokenDetailProps {
  readonly id: string;
  readonly whyNot: string | undefined;
  readonly onClose: () => void;
}

export function GitTokenDetail({ id, whyNot, onClose }: GitTokenDetailProps) {
  return (
    <RecordDetail
      query={useTagged('getGitToken', { params: { id } })}
      noun="token"
      facts={({ data: token }) => (
        <>
          <Facts
            facts={[
              ['For', token.type === 'GIT' ? 'Repositories' : 'Registries of modules and providers'],
              ['Token', 'Stored encrypted, and never shown again.'],
              ['Id', <code key="id">{id}</code>],
            ]}
          />
          <UsedBy uses={token.usedBy} />
        </>
      )}
      settings={(record) => <Settings record={record} whyNot={whyNot} />}
      removal={{ operation: 'deleteGitToken', input: { params: { id } }, refreshes: concerned }}
      meaning="Repositories that need it can then no longer be read."
      whyNot={whyNot}
      onClose={onClose}
    />
  );
}

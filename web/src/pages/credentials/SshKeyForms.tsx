/** An ssh key is stored, replaced and deleted. */
import { Stack, Textarea, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { showDone } from '../../api/messages.ts';
import { type Reply, type Tagged, useTagged } from '../../api/queries.ts';
import { Detail, useOpenRow } from '../../records/Detail.tsx';
import { FormDialog } from '../../records/FormDialog.tsx';
import { Part } from '../../records/Part.tsx';
import { nameOfUser } from '../../records/person.tsx';
import { Removal } from '../../records/Removal.tsx';
import { SaveButton } from '../../records/SaveButton.tsx';
import { StaleAlert } from '../../records/StaleAlert.tsx';
import { useChangeForm } from '../../records/use-change-form.ts';
import { settle, useEdited } from '../../records/use-edited.ts';
import { Facts } from '../../ui/Facts.tsx';
import { Loaded } from '../../ui/Loaded.tsx';
import { TimeAgo } from '../../ui/Time.tsx';
import { ProjectsField } from './ProjectsField.tsx';
import { UsedBy } from './UsedBy.tsx';

const mono = { input: { fontFamily: 'var(--e-mono)', fontSize: 'var(--e-text-sm)' } };
const concerned = ['listSshKeys', 'getSshKey'] as const;

export function NewSshKey({ organizationId, onClose }: { organizationId: string; onClose: () => void }) {
  const { open } = useOpenRow();
  const form = useForm({
    initialValues: { name: '', value: '', projectIds: [] as string[] },
    validate: {
      name: (name) => (name.trim() === '' ? 'A name is needed.' : null),
      value: (value) =>
        value.includes('PRIVATE KEY') ? null : 'The whole file of the private key is needed.',
    },
  });
  const { change, problem } = useChangeForm('createSshKey', {
    form,
    refreshes: concerned,
    onSuccess: ({ id }) => {
      showDone('The key was stored');
      onClose();
      open(id);
    },
  });
  return (
    <FormDialog
      title="New ssh key"
      lead="It is encrypted, and no reply contains it again. Code of a run never sees it."
      verb="Store key"
      isBusy={change.isPending}
      problem={problem}
      onClose={onClose}
      onSubmit={form.onSubmit((values) => change.mutate({ body: { organizationId, ...values } }))}
    >
      <TextInput label="Name" required data-autofocus autoComplete="off" {...form.getInputProps('name')} />
      <Textarea
        label="Private key"
        description="In OpenSSH or PEM format, without a passphrase."
        required
        autosize
        minRows={6}
        maxRows={12}
        spellCheck={false}
        styles={mono}
        {...form.getInputProps('value')}
      />
      <ProjectsField form={form} />
    </FormDialog>
  );
}

type SshKeyReply = Reply<'getSshKey'>;

interface SshKeySettingsProps {
  readonly found: Tagged<SshKeyReply>;
  readonly whyNot: string | undefined;
}

const valuesOf = ({ projectIds }: SshKeyReply) => ({ value: '', projectIds });

function Settings({ found, whyNot }: SshKeySettingsProps) {
  const form = useForm({ initialValues: valuesOf(found.data) });
  const edited = useEdited(found, form, valuesOf);
  const { change, problem } = useChangeForm('updateSshKey', {
    form,
    refreshes: concerned,
    onSuccess: (_reply, _input, sent) => {
      settle(form, sent, { ...sent, value: '' });
      showDone('The key was changed');
    },
  });
  return (
    <form
      noValidate
      onSubmit={form.onSubmit(({ value, projectIds }) =>
        change.mutate({
          params: { id: found.data.id },
          body: { projectIds, ...(value === '' ? {} : { value }) },
          ifMatch: edited.version(),
        }),
      )}
    >
      <Stack gap="sm">
        <StaleAlert error={problem} onShow={edited.showLatest} />
        <Textarea
          label="New private key"
          placeholder="Empty: the stored one remains"
          autosize
          minRows={3}
          maxRows={12}
          spellCheck={false}
          styles={mono}
          {...form.getInputProps('value')}
        />
        <ProjectsField form={form} isStored />
        <SaveButton isDirty={form.isDirty()} isBusy={change.isPending} whyNot={whyNot} />
      </Stack>
    </form>
  );
}

export interface SshKeyDetailProps {
  readonly id: string;
  readonly whyNot: string | undefined;
  readonly onClose: () => void;
}

export function SshKeyDetail({ id, whyNot, onClose }: SshKeyDetailProps) {
  const found = useTagged('getSshKey', { params: { id } });
  return (
    <Detail title={found.data?.data.name ?? 'SSH key'} onClose={onClose}>
      <Loaded query={found}>
        {({ data: sshKey, etag }) => (
          <>
            <Facts
              facts={[
                ['Private key', 'Encrypted. No reply contains it.'],
                ['Stored by', <bdi key="by">{nameOfUser(sshKey.user)}</bdi>],
                ['Stored', <TimeAgo key="at" at={sshKey.createdAt} />],
                ['Id', <code key="id">{id}</code>],
              ]}
            />
            <UsedBy uses={sshKey.usedBy} />
            <Part title="Settings">
              <Settings found={{ data: sshKey, etag }} whyNot={whyNot} />
            </Part>
            <div>
              <Removal
                operation="deleteSshKey"
                input={{ params: { id } }}
                refreshes={concerned}
                label="Delete key"
                question={`Delete ${sshKey.name}?`}
                done="The key was deleted"
                whyNot={whyNot}
                onDone={onClose}
              >
                <p>Repositories that need it can then no longer be read.</p>
              </Removal>
            </div>
          </>
        )}
      </Loaded>
    </Detail>
  );
}

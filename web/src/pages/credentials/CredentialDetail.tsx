/** One cloud credential: what it is, a test, its projects, a new value, and its end. */
import { Alert, Group } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { showDone } from '../../api/messages.ts';
import { useChange } from '../../api/queries.ts';
import { useRights } from '../../api/rights.ts';
import { useSession } from '../../api/session.ts';
import { FormAlert } from '../../forms/FormAlert.tsx';
import { NameField } from '../../forms/NameFields.tsx';
import { validateName } from '../../forms/validate-name.ts';
import { Detail } from '../../records/Detail.tsx';
import { FormDialog } from '../../records/FormDialog.tsx';
import { Part } from '../../records/Part.tsx';
import { nameOfUser } from '../../records/person.tsx';
import { RecordForm } from '../../records/RecordForm.tsx';
import { Removal } from '../../records/Removal.tsx';
import { useChangeForm } from '../../records/use-change-form.ts';
import { ActionButton } from '../../ui/ActionButton.tsx';
import { Facts } from '../../ui/Facts.tsx';
import { TimeAgo } from '../../ui/Time.tsx';
import { type CredentialValues, KindSelect, ValueFields } from './CredentialFields.tsx';
import { CredentialProjects } from './CredentialProjects.tsx';
import { kindNames, type ListedCredential, problemsOf, valueOf } from './credential-kinds.ts';

interface CredentialPartProps {
  readonly credential: ListedCredential;
  readonly whyNot: string | undefined;
}

function Test({ credential: { id }, whyNot }: CredentialPartProps) {
  const test = useChange('testCredential', { refreshes: [], onError: () => true });
  const result = test.data;
  return (
    <Part
      title="Test"
      lead="The service checks it with the cloud where possible; otherwise it only checks the format."
      actions={
        <ActionButton
          size="xs"
          variant="default"
          whyNot={whyNot}
          loading={test.isPending}
          onClick={() => test.mutate({ params: { id } })}
        >
          Test now
        </ActionButton>
      }
    >
      <FormAlert error={test.error} />
      {result && (
        <Alert
          role="status"
          color={result.isOk ? 'green' : 'red'}
          title={result.isOk ? (result.isTested ? 'It works' : 'Its format is valid') : 'It does not work'}
          styles={{ message: { overflowWrap: 'anywhere' } }}
        >
          {result.message}
        </Alert>
      )}
    </Part>
  );
}

function NewValue({ credential, onClose }: { credential: ListedCredential; onClose: () => void }) {
  const form = useForm<CredentialValues>({
    initialValues: { name: credential.name, type: credential.type, projectId: '', value: {} },
    validate: ({ type, value }) => problemsOf(type, value),
  });
  const { change, problem } = useChangeForm('updateCredential', {
    form,
    refreshes: ['listCredentials'],
    onSuccess: () => {
      showDone('The value was replaced');
      onClose();
    },
  });
  return (
    <FormDialog
      title={`New value of ${credential.name}`}
      lead="It replaces the whole value, and takes effect with the next phase of every deployment; phases that are running continue with the old one."
      verb="Replace value"
      isBusy={change.isPending}
      problem={problem}
      onClose={onClose}
      onSubmit={form.onSubmit(({ type, value }) =>
        change.mutate({ params: { id: credential.id }, body: { type, value: valueOf(type, value) } }),
      )}
    >
      <KindSelect form={form} />
      <ValueFields form={form} />
    </FormDialog>
  );
}

function Rename({ credential, whyNot }: CredentialPartProps) {
  return (
    <RecordForm
      record={{ data: credential, etag: undefined }}
      valuesOf={({ name }) => ({ name })}
      validate={{ name: validateName }}
      operation="updateCredential"
      refreshes={['listCredentials']}
      inputOf={(body) => ({ params: { id: credential.id }, body })}
      done="The credential was renamed"
      whyNot={whyNot}
    >
      {(form) => <NameField {...form.getInputProps('name')} />}
    </RecordForm>
  );
}

function Actions({ credential, whyNot, onClose }: CredentialPartProps & { readonly onClose: () => void }) {
  const [isReplacing, setReplacing] = useState(false);
  return (
    <Group>
      <ActionButton size="xs" variant="default" whyNot={whyNot} onClick={() => setReplacing(true)}>
        Replace the value
      </ActionButton>
      <Removal
        operation="deleteCredential"
        input={{ params: { id: credential.id } }}
        refreshes={['listCredentials']}
        label="Delete credential"
        question={`Delete ${credential.name}?`}
        done="The credential was deleted"
        whyNot={whyNot}
        onDone={onClose}
      >
        <p>
          A credential that is assigned to a project cannot be deleted: the service then lists the projects.
        </p>
      </Removal>
      {isReplacing && <NewValue credential={credential} onClose={() => setReplacing(false)} />}
    </Group>
  );
}

export interface CredentialDetailProps {
  readonly credential: ListedCredential;
  readonly onClose: () => void;
}

export function CredentialDetail({ credential, onClose }: CredentialDetailProps) {
  const { organizationId } = useSession();
  const { projectId } = credential;
  const rights = useRights(projectId ? { projectId } : { organizationId });
  const whyNot = rights.whyNot(projectId ? 'EDIT_PROJECT_SETTINGS' : 'EDIT_ORGANIZATION_SETTINGS');
  return (
    <Detail title={credential.name} onClose={onClose}>
      <Facts
        facts={[
          ['Kind', kindNames[credential.type]],
          ['Value', 'Stored encrypted, and never shown again.'],
          ['Stored', <TimeAgo key="stored" at={credential.createdAt} />],
          ['By', credential.createdByUser && <bdi>{nameOfUser(credential.createdByUser)}</bdi>],
          ['Changed', <TimeAgo key="changed" at={credential.updatedAt} />],
          ['Id', <code key="id">{credential.id}</code>],
        ]}
      />
      <Test credential={credential} whyNot={whyNot} />
      <CredentialProjects credential={credential} whyNot={whyNot} />
      <Part title="Settings">
        <Rename credential={credential} whyNot={whyNot} />
      </Part>
      <Actions credential={credential} whyNot={whyNot} onClose={onClose} />
    </Detail>
  );
}

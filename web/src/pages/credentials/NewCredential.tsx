/** Stores a cloud credential. */

import { NameField } from '../../forms/NameFields.tsx';
import { ProjectSelect } from '../../forms/ProjectSelect.tsx';
import { NewRecord } from '../../records/NewRecord.tsx';
import { type CredentialValues, KindSelect, ValueFields } from './CredentialFields.tsx';
import { problemsOf, valueOf } from './credential-kinds.ts';

export interface NewCredentialProps {
  readonly organizationId: string;
  readonly onClose: () => void;
}

const newCredential: CredentialValues = { name: '', type: 'AWS_OIDC', projectId: '', value: {} };

export function NewCredential({ organizationId, onClose }: NewCredentialProps) {
  return (
    <NewRecord
      title="New cloud credential"
      lead="Its values are stored encrypted and never shown again. Runs get it once it is assigned to a project."
      verb="Store credential"
      done="The credential was stored"
      operation="createCredential"
      refreshes={['listCredentials']}
      initialValues={newCredential}
      validate={({ name, type, value }) => ({
        ...(name.trim() === '' ? { name: 'A name is required.' } : {}),
        ...problemsOf(type, value),
      })}
      inputOf={({ name, type, projectId, value }) => ({
        body: {
          name,
          type,
          value: valueOf(type, value),
          ...(projectId === '' ? { organizationId } : { projectId }),
        },
      })}
      idOf={({ id }) => id}
      onClose={onClose}
    >
      {(form) => (
        <>
          <NameField data-autofocus {...form.getInputProps('name')} />
          <KindSelect form={form} />
          <ValueFields form={form} />
          <ProjectSelect
            label="Belongs to"
            placeholder="The organization"
            description="A credential of a project can be used there and below only."
            clearable
            value={form.values.projectId}
            error={form.errors.projectId}
            onChange={(projectId) => form.setFieldValue('projectId', projectId)}
          />
        </>
      )}
    </NewRecord>
  );
}

/** Creates a configuration set, or changes its name and description. */
import { Alert, Button, Group, Modal, Textarea, TextInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import type { ConfigurationSetDetails } from '#contract/configuration-sets/shapes.ts';
import { errorText, fieldOf, fieldText } from '../../api/errors.ts';
import { type Refetch, type Tagged, useChange } from '../../api/queries.ts';
import { useRights } from '../../api/rights.ts';
import { useSession } from '../../api/session.ts';
import { Overtaken } from '../../forms/Overtaken.tsx';
import { ProjectSelect } from '../../forms/ProjectSelect.tsx';
import { useEditing } from '../../forms/use-editing.ts';
import { ActionButton } from '../../ui/ActionButton.tsx';

interface SetValues {
  readonly name: string;
  readonly description: string;
  /** Empty: the organization. */
  readonly projectId: string;
}

interface SetDialogProps {
  readonly title: string;
  readonly verb: string;
  readonly values: SetValues;
  readonly onChange: (changes: Partial<SetValues>) => void;
  readonly onSubmit: () => void;
  readonly onClose: () => void;
  readonly isBusy: boolean;
  readonly whyNot: string | undefined;
  readonly failure: unknown;
  readonly hasHome: boolean;
  readonly notice?: ReactNode;
}

function SetFields({ values, onChange, failure, hasHome }: SetDialogProps) {
  const field = fieldOf(failure);
  const errorOf = (name: string) => (field === name ? fieldText(failure) : undefined);
  return (
    <>
      <TextInput
        label="Name"
        required
        data-autofocus
        maxLength={300}
        autoComplete="off"
        value={values.name}
        onChange={(event) => onChange({ name: event.currentTarget.value })}
        error={errorOf('name')}
      />
      {hasHome && (
        <ProjectSelect
          label="Belongs to"
          description="Of a project: it can be assigned there and below. Empty: everywhere in the organization."
          placeholder="The organization"
          clearable
          value={values.projectId}
          onChange={(projectId) => onChange({ projectId })}
          error={errorOf('scopeId')}
        />
      )}
      <Textarea
        label="Description"
        autosize
        maxRows={6}
        maxLength={4000}
        value={values.description}
        onChange={(event) => onChange({ description: event.currentTarget.value })}
        error={errorOf('description')}
      />
    </>
  );
}

function SetDialog(props: SetDialogProps) {
  const { title, verb, values, onSubmit, onClose, isBusy, whyNot, failure, notice } = props;
  const nameless = values.name.trim() === '' ? 'The set needs a name.' : undefined;
  return (
    <Modal opened onClose={onClose} title={title}>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (whyNot === undefined && nameless === undefined) onSubmit();
        }}
      >
        {notice}
        {failure !== undefined && fieldOf(failure) === undefined && (
          <Alert color="red" role="alert" mb="md" title={errorText(failure).title}>
            {errorText(failure).text}
          </Alert>
        )}
        <SetFields {...props} />
        <Group mt="md" justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <ActionButton type="submit" loading={isBusy} whyNot={whyNot ?? nameless}>
            {verb}
          </ActionButton>
        </Group>
      </form>
    </Modal>
  );
}

export interface NewSetDialogProps {
  readonly onClose: () => void;
  readonly onSaved: (id: string) => void;
}

export function NewSetDialog({ onClose, onSaved }: NewSetDialogProps) {
  const { organizationId } = useSession();
  const [values, setValues] = useState<SetValues>({ name: '', description: '', projectId: '' });
  const [failure, setFailure] = useState<unknown>();
  const isOfProject = values.projectId !== '';
  const rights = useRights(isOfProject ? { projectId: values.projectId } : { organizationId });
  const create = useChange('createConfigurationSet', {
    refreshes: ['listConfigurationSets'],
    onSuccess: ({ id }) => {
      onClose();
      onSaved(id);
    },
    onError: (error) => {
      setFailure(error);
      return true;
    },
  });
  return (
    <SetDialog
      title="New configuration set"
      verb="Create"
      hasHome
      values={values}
      failure={failure}
      isBusy={create.isPending}
      whyNot={rights.whyNot(isOfProject ? 'EDIT_PROJECT_SETTINGS' : 'EDIT_ORGANIZATION_SETTINGS')}
      onChange={(changes) => {
        setFailure(undefined);
        setValues({ ...values, ...changes });
      }}
      onSubmit={() =>
        create.mutate({
          body: {
            name: values.name.trim(),
            description: values.description.trim(),
            scope: isOfProject ? 'project' : 'organization',
            scopeId: isOfProject ? values.projectId : organizationId,
          },
        })
      }
      onClose={onClose}
    />
  );
}

const valuesOf = ({ name, description }: ConfigurationSetDetails): SetValues => ({
  name,
  description: description ?? '',
  projectId: '',
});

export interface EditSetDialogProps {
  readonly read: Tagged<ConfigurationSetDetails>;
  readonly refetch: Refetch;
  readonly onClose: () => void;
}

export function EditSetDialog({ read, refetch, onClose }: EditSetDialogProps) {
  const editing = useEditing(read, valuesOf, refetch);
  const [failure, setFailure] = useState<unknown>();
  const save = useChange('updateConfigurationSet', {
    refreshes: ['listConfigurationSets', 'getConfigurationSet'],
    onSuccess: onClose,
    onError: (error) => {
      if (!editing.onRefused(error)) setFailure(error);
      return true;
    },
  });
  const { name, description } = editing.values;
  return (
    <SetDialog
      title={`Edit ${read.data.name}`}
      verb="Save"
      hasHome={false}
      values={editing.values}
      failure={failure}
      isBusy={save.isPending}
      whyNot={undefined}
      notice={editing.isOvertaken && <Overtaken what="this set" onReset={editing.reset} />}
      onChange={(changes) => {
        setFailure(undefined);
        editing.change(changes);
      }}
      onSubmit={() =>
        save.mutate({
          params: { id: read.data.id },
          body: { name: name.trim(), description: description.trim() },
          ...(editing.etag === undefined ? {} : { ifMatch: editing.etag }),
        })
      }
      onClose={onClose}
    />
  );
}

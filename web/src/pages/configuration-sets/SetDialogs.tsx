/** Creates a configuration set, or changes its name and description. */
import { type ReactNode, useState } from 'react';
import type { ConfigurationSetDetails } from '#contract/configuration-sets/shapes.ts';
import { type Refetch, type Tagged, useChange } from '../../api/queries.ts';
import { useRights } from '../../api/rights.ts';
import { useSession } from '../../api/session.ts';
import { DescriptionInput, NameInput } from '../../forms/NameFields.tsx';
import { Overtaken } from '../../forms/Overtaken.tsx';
import { ProjectSelect } from '../../forms/ProjectSelect.tsx';
import { useEditing } from '../../forms/use-editing.ts';
import { type FormRefusal, useRefusal } from '../../forms/use-refusal.ts';
import { validateName } from '../../forms/validate-name.ts';
import { FormDialog } from '../../records/FormDialog.tsx';

interface SetValues {
  readonly name: string;
  readonly description: string;
  /** Empty: the organization. */
  readonly projectId: string;
}

const fields = { scopeId: 'projectId' };

interface SetDialogProps {
  readonly title: string;
  readonly verb: string;
  readonly values: SetValues;
  readonly onChange: (changes: Partial<SetValues>) => void;
  readonly onSubmit: () => void;
  readonly onClose: () => void;
  readonly isBusy: boolean;
  readonly whyNot?: string | undefined;
  readonly refusal: FormRefusal;
  readonly hasHome?: boolean;
  readonly notice?: ReactNode;
}

function SetDialog({ values, refusal, hasHome = false, onChange, ...dialog }: SetDialogProps) {
  const { errors, failure, forget } = refusal;
  const change = (changes: Partial<SetValues>) => {
    forget();
    onChange(changes);
  };
  return (
    <FormDialog
      {...dialog}
      problem={failure}
      whyNot={dialog.whyNot ?? validateName(values.name) ?? undefined}
    >
      <NameInput data-autofocus {...{ values, errors }} onChange={change} />
      {hasHome && (
        <ProjectSelect
          label="Belongs to"
          description="Of a project: it can be assigned there and below. Empty: everywhere in the organization."
          placeholder="The organization"
          clearable
          value={values.projectId}
          onChange={(projectId) => change({ projectId })}
          error={errors.projectId}
        />
      )}
      <DescriptionInput {...{ values, errors }} onChange={change} />
    </FormDialog>
  );
}

export interface NewSetDialogProps {
  readonly onClose: () => void;
  readonly onSaved: (id: string) => void;
}

export function NewSetDialog({ onClose, onSaved }: NewSetDialogProps) {
  const { organizationId } = useSession();
  const [values, setValues] = useState<SetValues>({ name: '', description: '', projectId: '' });
  const refusal = useRefusal(values, fields);
  const isOfProject = values.projectId !== '';
  const rights = useRights(isOfProject ? { projectId: values.projectId } : { organizationId });
  const create = useChange('createConfigurationSet', {
    refreshes: ['listConfigurationSets'],
    onSuccess: ({ id }) => {
      onClose();
      onSaved(id);
    },
    onError: refusal.onError,
  });
  return (
    <SetDialog
      title="New configuration set"
      verb="Create"
      hasHome
      values={values}
      refusal={refusal}
      isBusy={create.isPending}
      whyNot={rights.whyNot(isOfProject ? 'EDIT_PROJECT_SETTINGS' : 'EDIT_ORGANIZATION_SETTINGS')}
      onChange={(changes) => setValues({ ...values, ...changes })}
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
  const refusal = useRefusal(editing.values);
  const save = useChange('updateConfigurationSet', {
    refreshes: ['listConfigurationSets', 'getConfigurationSet'],
    onSuccess: onClose,
    onError: (error) => editing.onRefused(error) || refusal.onError(error),
  });
  const { name, description } = editing.values;
  return (
    <SetDialog
      title={`Edit ${read.data.name}`}
      verb="Save"
      values={editing.values}
      refusal={refusal}
      isBusy={save.isPending}
      notice={editing.isOvertaken && <Overtaken what="this set" onReset={editing.reset} />}
      onChange={editing.change}
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

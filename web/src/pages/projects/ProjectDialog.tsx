/** Creates a project, or changes its name, description and tags. */
import { TagsInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import type { Project } from '#contract/projects/shapes.ts';
import { type Refetch, type Tagged, useChange } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { DescriptionInput, NameInput } from '../../forms/NameFields.tsx';
import { Overtaken } from '../../forms/Overtaken.tsx';
import { ProjectSelect } from '../../forms/ProjectSelect.tsx';
import { useEditing } from '../../forms/use-editing.ts';
import { type FormRefusal, useRefusal } from '../../forms/use-refusal.ts';
import { validateName } from '../../forms/validate-name.ts';
import { FormDialog } from '../../records/FormDialog.tsx';

interface ProjectValues {
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly parentId: string;
}

const fields = { parentProjectId: 'parentId' };

interface ProjectFormProps {
  readonly title: string;
  readonly values: ProjectValues;
  readonly refusal: FormRefusal;
  readonly verb: string;
  readonly isBusy: boolean;
  /** The parent of a new project can be chosen. */
  readonly hasParent?: boolean;
  readonly notice?: ReactNode;
  readonly onChange: (changes: Partial<ProjectValues>) => void;
  readonly onSubmit: () => void;
  readonly onClose: () => void;
}

function Dialog({ values, refusal, hasParent = false, onChange, onSubmit, ...dialog }: ProjectFormProps) {
  const { errors, failure, forget } = refusal;
  return (
    <FormDialog
      {...dialog}
      problem={failure}
      whyNot={validateName(values.name) ?? undefined}
      onSubmit={() => {
        forget();
        onSubmit();
      }}
    >
      <NameInput data-autofocus {...{ values, errors, onChange }} />
      {hasParent && (
        <ProjectSelect
          label="Below"
          placeholder="At the top"
          clearable
          value={values.parentId}
          onChange={(parentId) => onChange({ parentId })}
          error={errors.parentId}
        />
      )}
      <DescriptionInput {...{ values, errors, onChange }} />
      <TagsInput
        label="Tags"
        value={[...values.tags]}
        onChange={(tags) => onChange({ tags })}
        error={errors.tags}
      />
    </FormDialog>
  );
}

export interface ProjectDialogProps {
  /** Parent of the new project; absent: at the top. */
  readonly parentId?: string;
  readonly onClose: () => void;
  readonly onSaved: (id: string) => void;
}

export function ProjectDialog({ parentId = '', onClose, onSaved }: ProjectDialogProps) {
  const { organizationId } = useSession();
  const [values, setValues] = useState<ProjectValues>({ name: '', description: '', tags: [], parentId });
  const refusal = useRefusal(values, fields);
  const create = useChange('createProject', {
    refreshes: ['listProjects'],
    onSuccess: ({ id }) => {
      onClose();
      onSaved(id);
    },
    onError: refusal.onError,
  });
  return (
    <Dialog
      title="New project"
      verb="Create"
      hasParent
      isBusy={create.isPending}
      onChange={(changes) => setValues({ ...values, ...changes })}
      onSubmit={() =>
        create.mutate({
          body: {
            organizationId,
            name: values.name.trim(),
            description: values.description.trim(),
            tags: [...values.tags],
            ...(values.parentId === '' ? {} : { parentProjectId: values.parentId }),
          },
        })
      }
      {...{ values, refusal, onClose }}
    />
  );
}

const valuesOf = ({ name, description, tags }: Project): ProjectValues => ({
  ...{ name, description, tags },
  parentId: '',
});

export interface EditProjectDialogProps {
  readonly read: Tagged<Project>;
  readonly refetch: Refetch;
  readonly onClose: () => void;
}

export function EditProjectDialog({ read, refetch, onClose }: EditProjectDialogProps) {
  const editing = useEditing(read, valuesOf, refetch);
  const refusal = useRefusal(editing.values);
  const save = useChange('updateProject', {
    refreshes: ['listProjects', 'getProject'],
    onSuccess: onClose,
    onError: (error) => editing.onRefused(error) || refusal.onError(error),
  });
  const { name, description, tags } = editing.values;
  return (
    <Dialog
      title={`Edit ${read.data.name}`}
      verb="Save"
      values={editing.values}
      isBusy={save.isPending}
      notice={editing.isOvertaken && <Overtaken what="this project" onReset={editing.reset} />}
      onChange={editing.change}
      onSubmit={() =>
        save.mutate({
          params: { id: read.data.id },
          body: { name: name.trim(), description: description.trim(), tags: [...tags] },
          ...(editing.etag === undefined ? {} : { ifMatch: editing.etag }),
        })
      }
      {...{ refusal, onClose }}
    />
  );
}

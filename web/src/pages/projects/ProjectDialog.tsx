/** Creates a project, or changes its name, description and tags. */
import { Alert, Button, Group, Modal, TagsInput, Textarea, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { Project } from '#contract/projects/shapes.ts';
import { errorText, fieldOf, fieldText } from '../../api/errors.ts';
import { type Refetch, type Tagged, useChange } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { Overtaken } from '../../forms/Overtaken.tsx';
import { ProjectSelect } from '../../forms/ProjectSelect.tsx';
import { useEditing } from '../../forms/use-editing.ts';

interface ProjectValues {
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly parentId: string;
}

const fields = {
  name: 'name',
  description: 'description',
  tags: 'tags',
  parentProjectId: 'parentId',
} as const;

/** Refusals at their fields, and those that name none. */
function useRefusal() {
  const [errors, setErrors] = useState<Readonly<Record<string, string>>>({});
  const [failure, setFailure] = useState<unknown>();
  return {
    ...{ errors, failure },
    forget: () => {
      setErrors({});
      setFailure(undefined);
    },
    onError: (error: unknown) => {
      const named = fieldOf(error)?.split('.')[0] as keyof typeof fields | undefined;
      const field = named && fields[named];
      if (field === undefined) setFailure(error);
      else setErrors({ [field]: fieldText(error) });
      return true;
    },
  };
}

interface ProjectFormProps {
  readonly title: string;
  readonly values: ProjectValues;
  readonly refusal: ReturnType<typeof useRefusal>;
  readonly verb: string;
  readonly isBusy: boolean;
  /** Where it is created can be chosen. */
  readonly hasParent: boolean;
  readonly notice?: React.ReactNode;
  readonly onChange: (changes: Partial<ProjectValues>) => void;
  readonly onSubmit: () => void;
  readonly onClose: () => void;
}

function ProjectForm({ values, refusal, onChange, hasParent }: ProjectFormProps) {
  return (
    <>
      <TextInput
        label="Name"
        required
        data-autofocus
        maxLength={300}
        value={values.name}
        onChange={(event) => onChange({ name: event.currentTarget.value })}
        error={refusal.errors.name}
        autoComplete="off"
      />
      {hasParent && (
        <ProjectSelect
          label="Below"
          placeholder="At the top"
          clearable
          value={values.parentId}
          onChange={(parentId) => onChange({ parentId })}
          error={refusal.errors.parentId}
        />
      )}
      <Textarea
        label="Description"
        autosize
        maxRows={6}
        maxLength={4000}
        value={values.description}
        onChange={(event) => onChange({ description: event.currentTarget.value })}
        error={refusal.errors.description}
      />
      <TagsInput
        label="Tags"
        value={[...values.tags]}
        onChange={(tags) => onChange({ tags })}
        error={refusal.errors.tags}
      />
    </>
  );
}

function Dialog(props: ProjectFormProps) {
  const { title, verb, isBusy, notice, refusal, onSubmit, onClose } = props;
  return (
    <Modal opened onClose={onClose} title={title}>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          refusal.forget();
          onSubmit();
        }}
      >
        {notice}
        {refusal.failure !== undefined && (
          <Alert color="red" role="alert" mb="md" title={errorText(refusal.failure).title}>
            {errorText(refusal.failure).text}
          </Alert>
        )}
        <ProjectForm {...props} />
        <Group mt="md" justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={isBusy} disabled={props.values.name.trim() === ''}>
            {verb}
          </Button>
        </Group>
      </form>
    </Modal>
  );
}

export interface ProjectDialogProps {
  /** Where the new project is; absent: at the top. */
  readonly parentId?: string;
  readonly onClose: () => void;
  readonly onSaved: (id: string) => void;
}

export function ProjectDialog({ parentId = '', onClose, onSaved }: ProjectDialogProps) {
  const { organizationId } = useSession();
  const [values, setValues] = useState<ProjectValues>({ name: '', description: '', tags: [], parentId });
  const refusal = useRefusal();
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
  const refusal = useRefusal();
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
      hasParent={false}
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

/** The projects that may use something of the organization. */
import type { UseFormReturnType } from '@mantine/form';
import { ProjectsSelect } from '../../forms/ProjectSelect.tsx';

export interface ProjectsFieldProps<Values> {
  readonly form: UseFormReturnType<Values>;
  /** It is in use already. */
  readonly isStored?: boolean;
}

export function ProjectsField<Values extends { projectIds: string[] }>({
  form,
  isStored = false,
}: ProjectsFieldProps<Values>) {
  return (
    <ProjectsSelect
      label="Projects"
      description={
        isStored
          ? 'None: all projects. Environments that may no longer use it run without it.'
          : 'With everything below them. None: all projects.'
      }
      value={form.values.projectIds}
      error={form.errors.projectIds}
      onChange={(ids) => form.setValues((before) => ({ ...before, projectIds: ids }))}
    />
  );
}

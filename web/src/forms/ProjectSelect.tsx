/** Chooses a project by its path in the tree. */
import { MultiSelect, Select } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Project } from '#contract/projects/shapes.ts';
import { useRead } from '../api/queries.ts';
import { useSession } from '../api/session.ts';
import { flatten, pathOf, treeOf } from './project-tree.ts';

/** Projects of this organization; those that are archived are left out unless requested. */
export function useProjects(withArchived = false) {
  const { organizationId } = useSession();
  const query = useRead('listProjects', { query: { organizationId } });
  const projects = (query.data ?? []).filter(({ isArchived }) => withArchived || !isArchived);
  return { query, projects };
}

function optionsOf(projects: readonly Project[]) {
  return flatten(treeOf(projects)).map(({ project }) => ({
    value: project.id,
    label: pathOf(projects, project.id),
  }));
}

interface Common {
  readonly label: string;
  /** The label is for people who cannot see what the field is about. */
  readonly isLabelHidden?: boolean;
  readonly description?: ReactNode;
  readonly error?: ReactNode;
  readonly disabled?: boolean;
  readonly placeholder?: string;
  /** Projects that cannot be chosen. */
  readonly without?: (project: Project) => boolean;
}

export interface ProjectSelectProps extends Common {
  readonly value: string;
  readonly onChange: (id: string) => void;
  readonly required?: boolean;
  readonly clearable?: boolean;
}

export function ProjectSelect({
  value,
  onChange,
  without,
  label,
  isLabelHidden,
  ...props
}: ProjectSelectProps) {
  const { projects } = useProjects();
  const data = optionsOf(projects.filter((project) => !without?.(project)));
  return (
    <Select
      {...props}
      {...(isLabelHidden ? { 'aria-label': label } : { label })}
      data={data}
      value={value === '' ? null : value}
      onChange={(id) => onChange(id ?? '')}
      searchable
      nothingFoundMessage="No matching project"
    />
  );
}

export interface ProjectsSelectProps extends Omit<Common, 'isLabelHidden'> {
  readonly value: readonly string[];
  readonly onChange: (ids: string[]) => void;
}

export function ProjectsSelect({ value, onChange, without, ...props }: ProjectsSelectProps) {
  const { projects } = useProjects();
  return (
    <MultiSelect
      {...props}
      data={optionsOf(projects.filter((project) => !without?.(project)))}
      value={[...value]}
      onChange={onChange}
      searchable
      clearable
      nothingFoundMessage="No matching project"
    />
  );
}

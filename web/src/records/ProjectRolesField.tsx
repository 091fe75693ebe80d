/** Roles in projects that a person gets: rows of a project and a role. */
import { ActionIcon, Button, Fieldset, Group, Stack } from '@mantine/core';
import { ProjectSelect } from '../forms/ProjectSelect.tsx';
import { RoleSelect } from './choosers.tsx';

export interface ProjectRole {
  readonly projectId: string;
  readonly projectRole: string;
}

export interface ProjectRolesFieldProps {
  readonly value: readonly ProjectRole[];
  readonly onChange: (value: ProjectRole[]) => void;
}

/** Rows without a project are left out of what is sent. */
export function filledRoles(rows: readonly ProjectRole[]): ProjectRole[] {
  return rows.filter(({ projectId }) => projectId !== '');
}

export function ProjectRolesField({ value, onChange }: ProjectRolesFieldProps) {
  const change = (at: number, changes: Partial<ProjectRole>) =>
    onChange(value.map((row, each) => (each === at ? { ...row, ...changes } : row)));
  return (
    <Fieldset legend="Roles in projects" variant="unstyled">
      <Stack gap="xs">
        {value.map((row, at) => (
          <Group key={at} gap="xs" wrap="nowrap" align="end">
            <div style={{ flex: 2, minWidth: 0 }}>
              <ProjectSelect
                label="Project"
                placeholder="Choose one"
                value={row.projectId}
                onChange={(projectId) => change(at, { projectId })}
              />
            </div>
            <RoleSelect
              scope="project"
              label="Role in it"
              value={row.projectRole}
              onChange={(projectRole) => change(at, { projectRole: projectRole ?? 'Viewer' })}
              style={{ flex: 1, minWidth: 0 }}
            />
            <ActionIcon
              variant="subtle"
              size="lg"
              aria-label="Remove this role"
              onClick={() => onChange(value.filter((_, each) => each !== at))}
            >
              ×
            </ActionIcon>
          </Group>
        ))}
        <div>
          <Button
            variant="default"
            size="xs"
            onClick={() => onChange([...value, { projectId: '', projectRole: 'Deployer' }])}
          >
            Add a role in a project
          </Button>
        </div>
      </Stack>
    </Fieldset>
  );
}

/** The projects whose environments may use a template. */
import { Group } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Project } from '#contract/projects/shapes.ts';
import type { Template } from '#contract/templates/shapes.ts';
import { showDone } from '../../api/messages.ts';
import { useChange } from '../../api/queries.ts';
import { type Rights, useRights } from '../../api/rights.ts';
import { ProjectSelect, useProjects } from '../../forms/ProjectSelect.tsx';
import { pathOf } from '../../forms/project-tree.ts';
import classes from '../../records/records.module.css';
import { ActionButton } from '../../ui/ActionButton.tsx';
import { callOf } from '../../ui/calls.ts';
import { DataTable } from '../../ui/DataTable.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';

const refreshes = ['getTemplate', 'listTemplates'] as const;

/** Takes the template away from one project, where the person may do that. */
function Remove({ template, project }: { readonly template: Template; readonly project: Project }) {
  const rights = useRights({ projectId: project.id });
  const remove = useChange('removeTemplateFromProject', {
    refreshes,
    onSuccess: () => showDone(`Removed from ${project.name}: its environments keep working`),
  });
  const isHome = template.creationScopeId === project.id;
  return (
    <ActionButton
      size="compact-xs"
      variant="subtle"
      color="red"
      aria-label={`Remove from ${project.name}`}
      whyNot={
        isHome
          ? 'A template stays usable in the project that it was created in.'
          : rights.whyNot('MANAGE_PROJECT_TEMPLATES')
      }
      loading={remove.isPending}
      onClick={() => remove.mutate({ params: { id: template.id ?? '', projectId: project.id } })}
    >
      Remove
    </ActionButton>
  );
}

function Add({ template }: { readonly template: Template }) {
  const [projectId, setProjectId] = useState('');
  const rights = useRights(projectId === '' ? undefined : { projectId });
  const add = useChange('addTemplateToProject', {
    refreshes,
    onSuccess: () => {
      showDone('Environments of the project can now be created from it');
      setProjectId('');
    },
  });
  return (
    <Group align="end" mb="md" gap="xs">
      <ProjectSelect
        label="Add to a project"
        placeholder="Choose a project"
        value={projectId}
        onChange={setProjectId}
        without={({ id }) => template.projectIds?.includes(id) ?? false}
      />
      <ActionButton
        whyNot={projectId === '' ? 'Choose a project first.' : rights.whyNot('MANAGE_PROJECT_TEMPLATES')}
        loading={add.isPending}
        onClick={() => add.mutate({ params: { id: template.id ?? '' }, body: { projectId } })}
      >
        Add
      </ActionButton>
    </Group>
  );
}

export function TemplateProjects({ template }: { readonly template: Template; readonly rights: Rights }) {
  const { projects } = useProjects(true);
  const rows = projects.filter(({ id }) => template.projectIds?.includes(id));
  const id = template.id ?? '';
  return (
    <>
      <Add template={template} />
      {rows.length === 0 ? (
        <EmptyState
          title="No project may use this template yet"
          call={callOf(
            'Add it to a project',
            'addTemplateToProject',
            { params: { id }, body: { projectId: projects[0]?.id ?? '{projectId}' } },
            ['templates', 'add-project', id, projects[0]?.id ?? 'PROJECT'],
          )}
        >
          Environments are created from a template only in projects that it is assigned to.
        </EmptyState>
      ) : (
        <DataTable
          label="Projects that may use this template"
          rows={rows}
          idOf={(row) => row.id}
          columns={[
            {
              id: 'name',
              head: 'Project',
              cell: (project) => (
                <Link to="/projects/$projectId" params={{ projectId: project.id }} className={classes.name!}>
                  <bdi>{pathOf(projects, project.id)}</bdi>
                </Link>
              ),
            },
            { id: 'remove', head: '', cell: (project) => <Remove template={template} project={project} /> },
          ]}
        />
      )}
      {rows.length < (template.projectIds?.length ?? 0) && (
        <p className={classes.faint}>
          {(template.projectIds?.length ?? 0) - rows.length} more that you may not see
        </p>
      )}
    </>
  );
}

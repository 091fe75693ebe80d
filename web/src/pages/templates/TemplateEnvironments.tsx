/** The environments that use a template. */
import { Link } from '@tanstack/react-router';
import type { Template } from '#contract/templates/shapes.ts';
import { callOf } from '../../ui/calls.ts';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { EnvironmentsTable } from '../projects/EnvironmentsTable.tsx';

interface OfTemplate {
  readonly template: Template;
}

function NoEnvironments({ template: { id = '', projectIds = [] } }: OfTemplate) {
  const projectId = projectIds[0];
  const body = {
    name: 'staging',
    projectId: projectId ?? '{projectId}',
    deployRequest: { blueprintId: id },
  };
  return (
    <EmptyState
      title="No environment uses this template"
      action={
        <Link to="/environments/new" search={{ template: id }}>
          Create one
        </Link>
      }
      call={callOf('Create an environment from it', 'createEnvironment', { body }, [
        ...['environment', 'create', 'staging', '--template', id],
        ...(projectId === undefined ? [] : ['--project', projectId]),
      ])}
    />
  );
}

export function TemplateEnvironments({ template }: OfTemplate) {
  return (
    <EnvironmentsTable
      label="Environments that use this template"
      query={{ blueprintId: template.id ?? '' }}
      empty={<NoEnvironments template={template} />}
    />
  );
}

/** The environments of a project, those of projects below it apart. */
import { Link } from '@tanstack/react-router';
import type { Project } from '#contract/projects/shapes.ts';
import { useSession } from '../../api/session.ts';
import { callOf } from '../../ui/calls.ts';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { EnvironmentsTable } from './EnvironmentsTable.tsx';

export function ProjectEnvironments({ project: { id } }: { readonly project: Project }) {
  const { organizationId } = useSession();
  const repository = 'https://git.example.com/network.git';
  return (
    <EnvironmentsTable
      label="Environments of this project"
      query={{ organizationId, projectId: id }}
      empty={
        <EmptyState
          title="No environments here yet"
          action={
            <Link to="/environments/new" search={{ project: id }}>
              Create one
            </Link>
          }
          call={callOf(
            'Create an environment',
            'createEnvironmentWithoutTemplate',
            { body: { organizationId, projectId: id, name: 'staging', type: 'terraform', repository } },
            ['environment', 'create', 'staging', '--project', id, '--repository', repository],
          )}
        />
      }
    />
  );
}

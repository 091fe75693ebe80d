/** The projects below one. */
import type { Project } from '#contract/projects/shapes.ts';
import { useSession } from '../../api/session.ts';
import { useProjects } from '../../forms/ProjectSelect.tsx';
import { isWithin, treeOf } from '../../forms/project-tree.ts';
import { callOf } from '../../ui/calls.ts';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { Loaded } from '../../ui/Loaded.tsx';
import { ProjectTree } from './ProjectTree.tsx';

export function ProjectsBelow({ project: { id } }: { readonly project: Project }) {
  const { organizationId } = useSession();
  const { query, projects } = useProjects(true);
  const below = projects.filter((each) => each.id !== id && isWithin(each, id));
  return (
    <Loaded query={query}>
      {() =>
        below.length > 0 ? (
          <ProjectTree nodes={treeOf(below)} isFiltered={false} />
        ) : (
          <EmptyState
            title="No projects below this one"
            call={callOf(
              'Create a project below',
              'createProject',
              { body: { organizationId, name: 'Team', parentProjectId: id } },
              ['project', 'create', 'Team', '--parent', id],
            )}
          >
            What holds here, holds there too: variables, sets, credentials and roles.
          </EmptyState>
        )
      }
    </Loaded>
  );
}

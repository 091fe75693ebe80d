/** The projects that may use something. */
import { useProjects } from '../../forms/ProjectSelect.tsx';
import { pathOf } from '../../forms/project-tree.ts';

/** @param props.ids none: all projects */
export function ProjectNames({ ids }: { readonly ids: readonly string[] }) {
  const { projects } = useProjects(true);
  if (ids.length === 0) return 'All projects';
  return <bdi>{ids.map((id) => pathOf(projects, id) || id).join(', ')}</bdi>;
}

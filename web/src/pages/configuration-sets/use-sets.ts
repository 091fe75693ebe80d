/** All configuration sets that the person may see: of the organization, and of each project. */
import { useQueries } from '@tanstack/react-query';
import type { ConfigurationSet } from '#contract/configuration-sets/shapes.ts';
import { read, useRead } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { useProjects } from '../../forms/ProjectSelect.tsx';

/** The service lists the sets of one place at a time. */
export function useSets() {
  const { organizationId } = useSession();
  const { projects } = useProjects(true);
  const own = useRead('listConfigurationSets', { query: { organizationId } });
  const ofProjects = useQueries({
    queries: projects.map(({ id }) => read('listConfigurationSets', { query: { projectId: id } })),
  });
  const sets: ConfigurationSet[] = [...(own.data ?? []), ...ofProjects.flatMap(({ data }) => data ?? [])];
  return { query: own, sets };
}

/** Names of the places that variables of an environment are from. */
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useRead } from '../../../api/queries.ts';
import { originWord } from '../../../forms/variables/origin.ts';
import type { VariableFormRow } from '../../../forms/variables/rows.ts';
import type { EnvironmentReply } from '../facts/reads.ts';

/** The sets that are assigned to the environment, or to a place around it. */
export function useAssignedSets({ id }: Pick<EnvironmentReply, 'id'>) {
  return useRead('listSetAssignments', { params: { scope: 'environment', scopeId: id } });
}

/** @returns what to show for where a row is from, with a link to that place */
export function useOrigins(environment: EnvironmentReply): { originOf: (row: VariableFormRow) => ReactNode } {
  const { organizationId, id } = environment;
  const { data: projects = [] } = useRead('listProjects', { query: { organizationId } });
  const { data: sets = [] } = useAssignedSets(environment);
  const originOf = ({ stored, isOwn, before }: VariableFormRow): ReactNode => {
    if (stored === undefined) return before === undefined ? 'new here' : 'default of the code';
    if (isOwn || stored.scopeId === id) return 'this environment';
    const place = stored.scopeId ?? '';
    if (stored.scope === 'PROJECT')
      return (
        <>
          project{' '}
          <Link to="/projects/$projectId" params={{ projectId: place }}>
            <bdi>{projects.find((project) => project.id === place)?.name ?? place}</bdi>
          </Link>
        </>
      );
    if (stored.scope === 'BLUEPRINT')
      return (
        <Link to="/templates/$templateId" params={{ templateId: place }}>
          template
        </Link>
      );
    if (stored.scope === 'SET')
      return (
        <>
          set{' '}
          <Link to="/configuration-sets/$setId" params={{ setId: place }}>
            <bdi>{sets.find((set) => set.id === place)?.name ?? place}</bdi>
          </Link>
        </>
      );
    return originWord({ stored });
  };
  return { originOf };
}

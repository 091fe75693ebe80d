/** Names for the places that values are from. */
import type { ReactNode } from 'react';
import { useRead } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { useProjects } from '../../forms/ProjectSelect.tsx';
import { pathOf } from '../../forms/project-tree.ts';
import type { VariableFormRow } from '../../forms/variables/rows.ts';

/** @returns the place of a row with its name; undefined where the kind of place says it all */
export function useOriginNames(): (row: VariableFormRow) => ReactNode {
  const { organizationId } = useSession();
  const { projects } = useProjects(true);
  const query = { query: { organizationId } };
  const sets = useRead('listConfigurationSets', query);
  const templates = useRead('listTemplates', query);
  return ({ stored }) => {
    const { scope, scopeId = '' } = stored ?? {};
    const named = (kind: string, name: string | undefined) =>
      name === undefined || name === '' ? undefined : (
        <>
          {kind} <bdi>{name}</bdi>
        </>
      );
    if (scope === 'PROJECT') return named('project', pathOf(projects, scopeId));
    if (scope === 'BLUEPRINT')
      return named('template', templates.data?.find(({ id }) => id === scopeId)?.name);
    return scope === 'SET' ? named('set', sets.data?.find(({ id }) => id === scopeId)?.name) : undefined;
  };
}

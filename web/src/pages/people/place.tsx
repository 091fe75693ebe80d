/** The place that the page of permissions is about, in the address: the organization, a project or an environment. */
import type { RoleScope } from '#contract/schema/built-in-roles.ts';
import type { RightPlace } from '../../api/rights.ts';
import { useSession } from '../../api/session.ts';
import { EnvironmentSelect } from '../../forms/EnvironmentSelect.tsx';
import { ProjectSelect } from '../../forms/ProjectSelect.tsx';
import { useSearchState } from '../../ui/search.ts';

export interface ChosenPlace {
  readonly scope: RoleScope;
  /** As operations take it. */
  readonly place: RightPlace;
  readonly projectId: string | undefined;
  /** Words of the command line that name it. */
  readonly words: readonly string[];
}

/** The place in the address. */
export function useChosenPlace(): ChosenPlace {
  const { organizationId } = useSession();
  const [{ project: projectId, environment: environmentId }] = useSearchState();
  if (environmentId !== undefined)
    return {
      scope: 'environment',
      place: { environmentId },
      projectId,
      words: ['--environment', environmentId],
    };
  if (projectId !== undefined)
    return { scope: 'project', place: { projectId }, projectId, words: ['--project', projectId] };
  return { scope: 'organization', place: { organizationId }, projectId, words: [] };
}

/** Changes the place; an environment can be chosen once a project is. */
export function PlaceFields({ withEnvironment = true }: { readonly withEnvironment?: boolean }) {
  const { organizationId } = useSession();
  const [{ project, environment }, change] = useSearchState();
  return (
    <>
      <ProjectSelect
        label="Place"
        placeholder="The whole organization"
        clearable
        value={project ?? ''}
        onChange={(next) => change({ project: next || undefined, environment: undefined })}
      />
      {withEnvironment && (project !== undefined || environment !== undefined) && (
        <EnvironmentSelect
          label="Environment"
          placeholder="The whole project"
          within={project === undefined ? { organizationId } : { projectId: project }}
          value={environment ?? null}
          onChange={(next) => change({ environment: next ?? undefined })}
        />
      )}
    </>
  );
}

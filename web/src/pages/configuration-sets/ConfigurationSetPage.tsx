/** One configuration set: its variables, and where it is assigned. */
import { useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import type { ConfigurationSetDetails } from '#contract/configuration-sets/shapes.ts';
import { queryClient, type Refetch, type Tagged, useTagged } from '../../api/queries.ts';
import { useRights } from '../../api/rights.ts';
import { useSession } from '../../api/session.ts';
import { useProjects } from '../../forms/ProjectSelect.tsx';
import { pathOf } from '../../forms/project-tree.ts';
import { Removal } from '../../records/Removal.tsx';
import { UrlTabs } from '../../records/UrlTabs.tsx';
import { ActionButton } from '../../ui/ActionButton.tsx';
import { callOf } from '../../ui/calls.ts';
import { Loaded } from '../../ui/Loaded.tsx';
import { Page } from '../../ui/Page.tsx';
import { usersText } from '../templates/users-text.ts';
import { EditSetDialog } from './SetDialogs.tsx';
import { SetPlaces } from './SetPlaces.tsx';
import { SetVariables } from './SetVariables.tsx';

/** Right that changes a set, and the place where it is required. */
function useSetRights({ creationScope, creationScopeId }: ConfigurationSetDetails): string | undefined {
  const { organizationId } = useSession();
  const isOfProject = creationScope === 'project';
  const rights = useRights(isOfProject ? { projectId: creationScopeId } : { organizationId });
  return rights.whyNot(isOfProject ? 'EDIT_PROJECT_SETTINGS' : 'EDIT_ORGANIZATION_SETTINGS');
}

interface ActionsProps {
  readonly read: Tagged<ConfigurationSetDetails>;
  readonly refetch: Refetch;
  readonly whyNot: string | undefined;
}

function Actions({ read, refetch, whyNot }: ActionsProps) {
  const { id, name, assignedTo } = read.data;
  const navigate = useNavigate();
  const [isEditing, setEditing] = useState(false);
  const users = assignedTo.slice(0, 5).map((place) => `${place.scope} ${place.name}`);
  return (
    <>
      <ActionButton size="xs" variant="default" whyNot={whyNot} onClick={() => setEditing(true)}>
        Edit
      </ActionButton>
      <Removal
        operation="deleteConfigurationSet"
        input={{ params: { id } }}
        refreshes={['listConfigurationSets']}
        label="Delete"
        question={`Delete the set ${name}?`}
        done={`${name} was deleted`}
        whyNot={whyNot ?? usersText(users, assignedTo.length, 'Unassign')}
        onDone={() => {
          // The list would ask about the set that is gone.
          queryClient.removeQueries({ queryKey: ['listConfigurationSets'] });
          void navigate({ to: '/configuration-sets' });
        }}
      >
        Its variables are deleted with it. It is not assigned anywhere; deployments that used it still mention
        it.
      </Removal>
      {isEditing && <EditSetDialog read={read} refetch={refetch} onClose={() => setEditing(false)} />}
    </>
  );
}

function Shown({ read, refetch }: Omit<ActionsProps, 'whyNot'>) {
  const set = read.data;
  const { projects } = useProjects(true);
  const whyNot = useSetRights(set);
  return (
    <Page
      title={set.name}
      aside={
        <span>
          {set.creationScope === 'organization' ? (
            'of the organization'
          ) : (
            <>
              of the project <bdi>{pathOf(projects, set.creationScopeId)}</bdi>
            </>
          )}
        </span>
      }
      lead={set.description}
      crumbs={[{ label: 'Configuration sets', to: '/configuration-sets' }]}
      actions={<Actions read={read} refetch={refetch} whyNot={whyNot} />}
      calls={[
        callOf('Show this set', 'getConfigurationSet', { params: { id: set.id } }, ['set', 'show', set.id]),
        callOf('Delete this set', 'deleteConfigurationSet', { params: { id: set.id } }, [
          ...['set', 'delete', set.id],
        ]),
      ]}
    >
      <UrlTabs
        isStep
        tabs={[
          {
            value: 'variables',
            label: 'Variables',
            content: () => <SetVariables id={set.id} whyNot={whyNot} />,
          },
          {
            value: 'places',
            label: `Assigned to (${set.assignedTo.length})`,
            content: () => <SetPlaces set={set} />,
          },
        ]}
      />
    </Page>
  );
}

export function ConfigurationSetPage() {
  const { setId = '' } = useParams({ strict: false });
  const set = useTagged('getConfigurationSet', { params: { id: setId } });
  if (set.data) return <Shown key={setId} read={set.data} refetch={set.refetch} />;
  return (
    <Page
      title="Configuration set"
      crumbs={[{ label: 'Configuration sets', to: '/configuration-sets' }]}
      calls={[]}
    >
      <Loaded query={set}>{() => null}</Loaded>
    </Page>
  );
}

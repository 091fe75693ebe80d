/** One configuration set: its variables, and where it is assigned. */
import { Tabs } from '@mantine/core';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import type { ConfigurationSetDetails } from '#contract/configuration-sets/shapes.ts';
import { showDone } from '../../api/messages.ts';
import { queryClient, type Refetch, type Tagged, useChange, useTagged } from '../../api/queries.ts';
import { useRights } from '../../api/rights.ts';
import { useSession } from '../../api/session.ts';
import { useProjects } from '../../forms/ProjectSelect.tsx';
import { pathOf } from '../../forms/project-tree.ts';
import { ActionButton } from '../../ui/ActionButton.tsx';
import { Confirm } from '../../ui/Confirm.tsx';
import { callOf } from '../../ui/calls.ts';
import { Loaded } from '../../ui/Loaded.tsx';
import { Page } from '../../ui/Page.tsx';
import { useSearchState } from '../../ui/search.ts';
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
  const [dialog, setDialog] = useState<'edit' | 'delete'>();
  const close = () => setDialog(undefined);
  const remove = useChange('deleteConfigurationSet', {
    refreshes: ['listConfigurationSets'],
    onSuccess: () => {
      showDone(`${name} was deleted`);
      // The list would ask about the set that is gone.
      queryClient.removeQueries({ queryKey: ['listConfigurationSets'] });
      void navigate({ to: '/configuration-sets' });
    },
  });
  const users = assignedTo.slice(0, 5).map((place) => `${place.scope} ${place.name}`);
  return (
    <>
      <ActionButton size="xs" variant="default" whyNot={whyNot} onClick={() => setDialog('edit')}>
        Edit
      </ActionButton>
      <ActionButton
        size="xs"
        variant="default"
        color="red"
        whyNot={whyNot ?? usersText(users, assignedTo.length, 'Unassign')}
        loading={remove.isPending}
        onClick={() => setDialog('delete')}
      >
        Delete
      </ActionButton>
      {dialog === 'edit' && <EditSetDialog read={read} refetch={refetch} onClose={close} />}
      <Confirm
        isOpen={dialog === 'delete'}
        title={`Delete the set ${name}?`}
        verb="Delete"
        onConfirm={() => {
          close();
          remove.mutate({ params: { id } });
        }}
        onClose={close}
      >
        With its variables. It is assigned nowhere; deployments that ran with it still name it.
      </Confirm>
    </>
  );
}

function Shown({ read, refetch }: Omit<ActionsProps, 'whyNot'>) {
  const set = read.data;
  const [{ tab = 'variables' }, change] = useSearchState();
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
      <Tabs
        value={tab}
        onChange={(next) => change({ tab: next === 'variables' || next === null ? undefined : next }, true)}
        keepMounted={false}
      >
        <Tabs.List mb="md">
          <Tabs.Tab value="variables">Variables</Tabs.Tab>
          <Tabs.Tab value="places">Assigned to ({set.assignedTo.length})</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="variables">
          <SetVariables id={set.id} whyNot={whyNot} />
        </Tabs.Panel>
        <Tabs.Panel value="places">
          <SetPlaces set={set} />
        </Tabs.Panel>
      </Tabs>
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

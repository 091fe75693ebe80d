/** Events of a project for each endpoint: its own choice, or that of a project above. */
import { Checkbox } from '@mantine/core';
import { useQueries } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import {
  type NotificationEvent,
  notificationEvents,
  notificationEventWords,
} from '#contract/notifications/events.ts';
import type { NotificationEndpoint } from '#contract/notifications/shapes.ts';
import type { Project } from '#contract/projects/shapes.ts';
import { showDone } from '../../api/messages.ts';
import { read, useChange, useRead } from '../../api/queries.ts';
import { useRights } from '../../api/rights.ts';
import { useSession } from '../../api/session.ts';
import { useProjects } from '../../forms/ProjectSelect.tsx';
import { pathOf, wayTo } from '../../forms/project-tree.ts';
import { ActionButton } from '../../ui/ActionButton.tsx';
import { callOf } from '../../ui/calls.ts';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { Loaded } from '../../ui/Loaded.tsx';
import classes from './notifications-tab.module.css';

/** Effective choice for one endpoint. */
interface EndpointEvents {
  readonly endpoint: NotificationEndpoint;
  readonly events: readonly NotificationEvent[];
  /** Project of the choice; absent: none. */
  readonly projectId: string | undefined;
}

/** The choice of the project itself, or of the nearest one above; those that may not be seen count as none. */
function useChoices(project: Project, endpoints: readonly NotificationEndpoint[]): readonly EndpointEvents[] {
  const { projects } = useProjects(true);
  const way = wayTo(projects, project.id).map(({ id }) => id);
  const ids = way.includes(project.id) ? way : [...way, project.id];
  const reads = useQueries({
    queries: ids.map((projectId) => read('listNotificationAssignments', { params: { projectId } })),
  });
  return endpoints.map((endpoint) => {
    const nearest = ids.findLastIndex((_, index) =>
      reads[index]?.data?.some((each) => each.notificationEndpointId === endpoint.id),
    );
    const found = reads[nearest]?.data?.find((each) => each.notificationEndpointId === endpoint.id);
    return { endpoint, events: found?.eventNames ?? [], projectId: ids[nearest] };
  });
}

interface EndpointChoiceProps {
  readonly choice: EndpointEvents;
  readonly project: Project;
  readonly whyNot: string | undefined;
}

function Origin({ choice, project }: Pick<EndpointChoiceProps, 'choice' | 'project'>) {
  const { projects } = useProjects(true);
  if (choice.projectId === undefined) return <>Receives no events here</>;
  if (choice.projectId === project.id) return <>Chosen in this project</>;
  return (
    <>
      Inherited from{' '}
      <Link
        to="/projects/$projectId"
        params={{ projectId: choice.projectId }}
        search={{ tab: 'notifications' }}
      >
        <bdi>{pathOf(projects, choice.projectId) || choice.projectId}</bdi>
      </Link>
    </>
  );
}

function EndpointChoice({ choice, project, whyNot }: EndpointChoiceProps) {
  const { endpoint, events } = choice;
  const assign = useChange('assignNotificationEndpoint', {
    inOrder: `${project.id} ${endpoint.id}`,
    refreshes: ['listNotificationAssignments'],
    onSuccess: ({ eventNames }) =>
      showDone(eventNames.length === 0 ? 'Removed from this project' : 'Saved for this project'),
  });
  // The last click is shown until the service has it.
  const [sent, setSent] = useState<readonly NotificationEvent[]>();
  const chosen = sent ?? events;
  const save = (eventNames: NotificationEvent[]) => {
    setSent(eventNames);
    const done = () => setSent((last) => (last === eventNames ? undefined : last));
    const params = { projectId: project.id, endpointId: endpoint.id };
    assign.mutate({ params, body: { eventNames } }, { onSettled: done });
  };
  const toggle = (event: NotificationEvent) =>
    save(notificationEvents.filter((each) => chosen.includes(each) !== (each === event)));
  const isOwn = choice.projectId === project.id;
  return (
    <fieldset className={classes.endpoint}>
      <legend>
        <bdi>{endpoint.name}</bdi> <span className={classes.type}>{endpoint.type}</span>
      </legend>
      <p className={classes.origin}>
        <Origin choice={choice} project={project} />
        {isOwn && (
          <ActionButton size="compact-xs" variant="subtle" whyNot={whyNot} onClick={() => save([])}>
            Remove
          </ActionButton>
        )}
      </p>
      <div className={classes.events}>
        {notificationEvents.map((event) => (
          <Checkbox
            key={event}
            label={notificationEventWords[event]}
            checked={chosen.includes(event)}
            disabled={whyNot !== undefined}
            onChange={() => toggle(event)}
          />
        ))}
      </div>
    </fieldset>
  );
}

function Choices({
  project,
  endpoints,
}: {
  readonly project: Project;
  readonly endpoints: readonly NotificationEndpoint[];
}) {
  const whyNot = useRights({ projectId: project.id }).whyNot('EDIT_PROJECT_SETTINGS');
  const choices = useChoices(project, endpoints);
  return (
    <>
      {whyNot !== undefined && <p>{whyNot}</p>}
      {choices.map((choice) => (
        <EndpointChoice key={choice.endpoint.id} choice={choice} project={project} whyNot={whyNot} />
      ))}
    </>
  );
}

export default function NotificationsTab({ project }: { readonly project: Project }) {
  const { organizationId } = useSession();
  const endpoints = useRead('listNotificationEndpoints', { query: { organizationId } });
  const list = callOf(
    'List assignments',
    'listNotificationAssignments',
    { params: { projectId: project.id } },
    [...['notifications', 'assignments', '--project', project.id]],
  );
  return (
    <Loaded query={endpoints}>
      {(all) =>
        all.length === 0 ? (
          <EmptyState
            title="No endpoints yet"
            call={list}
            action={<Link to="/notifications">Endpoints of the organization</Link>}
          >
            An administrator stores endpoints for the whole organization; this project then chooses their
            events.
          </EmptyState>
        ) : (
          <Choices project={project} endpoints={all} />
        )
      }
    </Loaded>
  );
}

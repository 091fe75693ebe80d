/** `notifications assign` and `notifications assignments`: who hears of which events of a project. */
import type { Command } from 'commander';
import { type NotificationEvent, notificationEvents } from '#contract/notifications/events.ts';
import { onCall } from '../../call/command-line.ts';
import { findOrganization, findProject } from '../../find/find-environment.ts';
import { BadCall } from '../../session/exit-codes.ts';
import { plain } from '../../terminal/safe-text.ts';
import type { TableColumn } from '../../terminal/table.ts';
import { findEndpoint } from './find-endpoint.ts';

interface AssignEndpointFlags {
  readonly project: string;
  readonly event?: NotificationEvent[];
  readonly all?: boolean;
  readonly none?: boolean;
}

function eventsOf({ event = [], all, none }: AssignEndpointFlags): NotificationEvent[] {
  const choices = [event.length > 0, all === true, none === true].filter(Boolean).length;
  if (choices !== 1) throw new BadCall('Specify one of --event, --all and --none.');
  const unknown = event.find((name) => !notificationEvents.includes(name));
  if (unknown !== undefined)
    throw new BadCall(`--event ${unknown} does not exist: use ${notificationEvents.join(', ')}`);
  return all ? [...notificationEvents] : event;
}

export function addAssignmentCommands(group: Command): void {
  const assign = group
    .command('assign <endpoint>')
    .description('set which events of a project and the projects below it are sent to an endpoint')
    .requiredOption('--project <project>', 'id or name of the project')
    .option('--event <event...>', 'names of events')
    .option('--all', 'all events')
    .option('--none', 'no events: it is no longer assigned');
  onCall<AssignEndpointFlags>(assign, async ({ session, args: [idOrName = ''], options }) => {
    const eventNames = eventsOf(options);
    const { id: organizationId } = await findOrganization(session);
    const endpoint = await findEndpoint(session, organizationId, idOrName);
    const { id: projectId } = await findProject(session.client, organizationId, options.project);
    const params = { projectId, endpointId: endpoint.id };
    const made = await session.client.call('assignNotificationEndpoint', { params, body: { eventNames } });
    const what = eventNames.length === 0 ? 'nothing' : eventNames.join(', ');
    return session.answer(made, `${plain(endpoint.name)} receives ${what}`);
  });
  const list = group
    .command('assignments')
    .description('list the endpoints of a project, without those that it inherits')
    .requiredOption('--project <project>', 'id or name of the project');
  onCall<{ readonly project: string }>(list, async ({ session, options }) => {
    const { id: organizationId } = await findOrganization(session);
    const { id: projectId } = await findProject(session.client, organizationId, options.project);
    const found = await session.client.call('listNotificationAssignments', { params: { projectId } });
    if (session.isJson) return session.output.json(found);
    const all = await session.client.call('listNotificationEndpoints', { query: { organizationId } });
    const names = new Map(all.map(({ id, name }) => [id, name]));
    const columns: TableColumn<(typeof found)[number]>[] = [
      { head: 'ENDPOINT', value: (row) => names.get(row.notificationEndpointId) },
      { head: 'EVENTS', value: ({ eventNames }) => eventNames.join(', ') },
    ];
    return session.output.table(found, columns, 'No endpoint is assigned to this project.');
  });
}

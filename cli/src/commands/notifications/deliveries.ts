/** `notifications deliveries`, `delivery` and `resend`: what was sent, and what waits. */
import type { Command } from 'commander';
import {
  type DeliveryStatus,
  deliveryStatuses,
  type NotificationEvent,
  notificationEvents,
} from '#contract/notifications/events.ts';
import type { NotificationDelivery, NotificationDeliveryDetails } from '#contract/notifications/shapes.ts';
import { onCall, wholeNumber } from '../../call/command-line.ts';
import { findOrganization, findProject } from '../../find/find-environment.ts';
import type { CommandSession } from '../../session/session.ts';
import { timeText } from '../../terminal/durations.ts';
import { plain } from '../../terminal/safe-text.ts';
import { optionOf } from '../../terminal/suggest.ts';
import type { TableColumn } from '../../terminal/table.ts';
import { findEndpoint } from './find-endpoint.ts';

interface DeliveriesFlags {
  readonly endpoint?: string;
  readonly project?: string;
  readonly event?: NotificationEvent;
  readonly status?: DeliveryStatus;
  readonly limit: number;
}

const deliveryColumns: TableColumn<NotificationDelivery>[] = [
  { head: 'TIME', value: ({ createdAt }) => timeText(createdAt), isWhole: true },
  { head: 'ENDPOINT', value: ({ endpointName }) => endpointName },
  { head: 'EVENT', value: ({ eventName }) => eventName },
  { head: 'ENVIRONMENT', value: ({ environmentName }) => environmentName ?? '' },
  { head: 'STATUS', value: ({ status }) => status },
  { head: 'ATTEMPTS', value: ({ attempts }) => String(attempts) },
  { head: 'ERROR', value: ({ error }) => error, isExtra: true },
  { head: 'ID', value: ({ id }) => id, isId: true },
];

function addList(group: Command): void {
  const list = group
    .command('deliveries')
    .description('list sent and waiting deliveries, newest first')
    .option('--endpoint <endpoint>', 'only to this endpoint')
    .option('--project <project>', 'only about this project')
    .addOption(optionOf('--event <event>', 'only of this event', notificationEvents))
    .addOption(optionOf('--status <status>', 'only with this status', deliveryStatuses))
    .option('--limit <count>', 'at most this many', wholeNumber('--limit', 1), 50);
  onCall<DeliveriesFlags>(list, async ({ session, options }) => {
    const { id: organizationId } = await findOrganization(session);
    const { endpoint, project, event: eventName, status, limit } = options;
    const endpointId =
      endpoint === undefined ? undefined : (await findEndpoint(session, organizationId, endpoint)).id;
    const projectId =
      project === undefined ? undefined : (await findProject(session.client, organizationId, project)).id;
    const query = { organizationId, endpointId, projectId, eventName, status, limit };
    const page = await session.client.call('listNotificationDeliveries', { query });
    return session.isJson
      ? session.output.json(page)
      : session.output.table(page.deliveries, deliveryColumns, 'Nothing was sent.');
  });
}

function showDelivery({ output }: CommandSession, delivery: NotificationDeliveryDetails): Promise<void> {
  return output.fields([
    ['Id', delivery.id],
    ['Event', delivery.eventName],
    ['Endpoint', plain(delivery.endpointName)],
    ['Environment', plain(delivery.environmentName ?? 'none: about the project')],
    ['Status', delivery.status],
    ['Next attempt', delivery.nextAttemptAt ?? 'none'],
    ...delivery.tries.map(({ number, startedAt, durationMilliseconds, response, error }) => {
      const answer = error === null ? `${response?.status ?? 0}` : plain(error.message);
      return [`Attempt ${number}`, `${timeText(startedAt)}, ${durationMilliseconds} ms: ${answer}`] as const;
    }),
  ]);
}

function addSingle(group: Command): void {
  const show = group.command('delivery <id>').description('show a delivery with every attempt');
  onCall(show, async ({ session, args: [id = ''] }) => {
    const delivery = await session.client.call('getNotificationDelivery', { params: { id } });
    return session.isJson ? session.output.json(delivery) : showDelivery(session, delivery);
  });
  const resend = group.command('resend <id>').description('send a delivery again, whatever its status');
  onCall(resend, async ({ session, args: [id = ''] }) => {
    const delivery = await session.client.call('resendNotificationDelivery', { params: { id } });
    return session.answer(
      delivery,
      () => `${delivery.eventName} is sent to ${plain(delivery.endpointName)} again`,
    );
  });
}

export function addDeliveryCommands(group: Command): void {
  addList(group);
  addSingle(group);
}

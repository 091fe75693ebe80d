/** Endpoints that hear of events, the events of each project, and the log of what was sent. */
import { type Static, Type } from 'typebox';
import { aboutOne, inOrganization } from '../schema/by-id.ts';
import { clearable } from '../schema/empty-fields.ts';
import { oneOf } from '../schema/enumerations.ts';
import { defineOperations, operation } from '../schema/operation.ts';
import { closed, Name, nullable, Title } from '../schema/schema.ts';
import { deliveryStatuses, endpointTypes, notificationEvents } from './events.ts';
import {
  NotificationAssignment,
  NotificationDeliveries,
  NotificationDelivery,
  NotificationDeliveryDetails,
  NotificationEndpoint,
  NotificationTest,
} from './shapes.ts';

const thisEndpoint = aboutOne('notificationEndpoint');
const thisDelivery = aboutOne('notificationDelivery');
const thisProject = { entity: 'project', in: 'params', field: 'projectId' } as const;
const only = (description: string) => Type.Optional(Type.String({ minLength: 1, description }));

const Value = Type.String({
  minLength: 1,
  maxLength: 2000,
  description:
    'Slack, Teams, Webhook: https address. Email: addresses separated by commas, `$ENVIRONMENT_CREATOR$` and ' +
    '`$DEPLOYER$` for the people of each event',
});
const WebhookSecret = Type.Optional(
  clearable(
    nullable(
      Type.String({
        minLength: 1,
        maxLength: 1000,
        description: 'Signs what is sent to a webhook; never returned. null: none',
      }),
    ),
    null,
  ),
);

export const EndpointBody = closed({
  organizationId: Name,
  name: Title,
  type: oneOf(endpointTypes),
  value: Value,
  webhookSecret: WebhookSecret,
});
export type EndpointBody = Static<typeof EndpointBody>;

export const EndpointChange = closed({
  name: Type.Optional(Title),
  type: Type.Optional(oneOf(endpointTypes)),
  value: Type.Optional(Value),
  webhookSecret: WebhookSecret,
});
export type EndpointChange = Static<typeof EndpointChange>;

const endpoints = {
  listNotificationEndpoints: operation('GET', '/notifications/endpoints', {
    summary: 'List notification endpoints',
    description: 'Newest first. Without EDIT_ORGANIZATION_SETTINGS each `value` is asterisks.',
    needs: 'VIEW_ORGANIZATION',
    subject: inOrganization.subject,
    query: Type.Object({ organizationId: Name }),
    reply: Type.Array(NotificationEndpoint),
  }),
  createNotificationEndpoint: operation('POST', '/notifications/endpoints', {
    summary: 'Create notification endpoint',
    description:
      'Its name is unique in the organization. Nothing is sent to it until it is assigned to a project.',
    needs: 'EDIT_ORGANIZATION_SETTINGS',
    subject: { entity: 'organization', in: 'body', field: 'organizationId' },
    body: EndpointBody,
    reply: NotificationEndpoint,
  }),
  getNotificationEndpoint: operation('GET', '/notifications/endpoints/{id}', {
    summary: 'Get notification endpoint',
    description: 'Without EDIT_ORGANIZATION_SETTINGS its `value` is asterisks.',
    needs: 'VIEW_ORGANIZATION',
    ...thisEndpoint,
    reply: NotificationEndpoint,
  }),
  updateNotificationEndpoint: operation('PATCH', '/notifications/endpoints/{id}', {
    summary: 'Update notification endpoint',
    description:
      'Omitted fields are unchanged; `webhookSecret: null` removes the secret. What still waits is sent to the new ' +
      'address.',
    needs: 'EDIT_ORGANIZATION_SETTINGS',
    ...thisEndpoint,
    body: EndpointChange,
    reply: NotificationEndpoint,
  }),
  deleteNotificationEndpoint: operation('DELETE', '/notifications/endpoints/{id}', {
    summary: 'Delete notification endpoint',
    description: 'With its assignments and its deliveries; what still waits is not sent.',
    needs: 'EDIT_ORGANIZATION_SETTINGS',
    ...thisEndpoint,
    reply: Type.Null(),
  }),
  testNotificationEndpoint: operation('POST', '/notifications/endpoints/{id}/test', {
    summary: 'Test notification endpoint',
    description:
      'Sends a test message now, once, and answers with what was sent and received, whether it succeeded or not.',
    needs: 'EDIT_ORGANIZATION_SETTINGS',
    ...thisEndpoint,
    asksOthers: true,
    reply: NotificationTest,
  }),
};

const assignments = {
  listNotificationAssignments: operation('GET', '/notifications/projects/{projectId}', {
    summary: 'List notification assignments',
    description: 'Those of the project itself. It also inherits the ones of the projects above it.',
    needs: 'VIEW_PROJECT',
    subject: thisProject,
    params: Type.Object({ projectId: Name }),
    reply: Type.Array(NotificationAssignment),
  }),
  assignNotificationEndpoint: operation('PUT', '/notifications/projects/{projectId}/endpoints/{endpointId}', {
    summary: 'Assign notification endpoint',
    description:
      'Replaces the events that the endpoint hears of in this project and all projects below it. A project ' +
      'with an assignment of its own does not inherit another one of the same endpoint. An empty list unassigns.',
    needs: 'EDIT_PROJECT_SETTINGS',
    subject: thisProject,
    params: Type.Object({
      projectId: Name,
      endpointId: Type.String({ minLength: 1, description: 'Id of the endpoint' }),
    }),
    body: closed({
      eventNames: Type.Array(oneOf(notificationEvents), {
        maxItems: 100,
        description: 'Events that the endpoint hears of; empty: none',
      }),
    }),
    reply: NotificationAssignment,
    refusesWith: ['not_found'],
  }),
};

const deliveries = {
  listNotificationDeliveries: operation('GET', '/notifications/deliveries', {
    summary: 'List notification deliveries',
    description: 'Newest first, of the last 30 days.',
    needs: 'EDIT_ORGANIZATION_SETTINGS',
    subject: inOrganization.subject,
    query: Type.Object({
      organizationId: Name,
      endpointId: only('Only to this endpoint'),
      projectId: only('Only about this project'),
      environmentId: only('Only about this environment'),
      eventName: Type.Optional(oneOf(notificationEvents, 'Only of this event')),
      status: Type.Optional(oneOf(deliveryStatuses, 'Only with this status')),
      offset: Type.Optional(Type.String({ maxLength: 100, description: '`nextPageKey` of the page before' })),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, description: 'Default 50' })),
    }),
    reply: NotificationDeliveries,
  }),
  getNotificationDelivery: operation('GET', '/notifications/deliveries/{id}', {
    summary: 'Get notification delivery',
    description: 'With what was sent last, and every attempt.',
    needs: 'EDIT_ORGANIZATION_SETTINGS',
    ...thisDelivery,
    reply: NotificationDeliveryDetails,
  }),
  resendNotificationDelivery: operation('POST', '/notifications/deliveries/{id}/resend', {
    summary: 'Send notification again',
    description:
      'Whether it was delivered or not, with the same event id; a failure is tried again for another day.',
    needs: 'EDIT_ORGANIZATION_SETTINGS',
    ...thisDelivery,
    reply: NotificationDelivery,
  }),
};

export const operations = defineOperations('notifications', { ...endpoints, ...assignments, ...deliveries });

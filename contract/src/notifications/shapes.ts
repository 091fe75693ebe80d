/** Shapes of replies about notifications. */
import { type Static, Type } from 'typebox';
import { oneOf } from '../schema/enumerations.ts';
import { Instant, mapOf, replyObject, Text } from '../schema/schema.ts';
import { User } from '../users/shapes.ts';
import { deliveryErrorTypes, deliveryStatuses, endpointTypes, notificationEvents } from './events.ts';

export const NotificationEndpoint = replyObject('NotificationEndpoint', {
  id: Text,
  organizationId: Text,
  name: Text,
  type: oneOf(endpointTypes),
  value: Type.String({
    description: 'As it was sent, for callers with EDIT_ORGANIZATION_SETTINGS; asterisks for all others',
  }),
  hasWebhookSecret: Type.Boolean({ description: 'Whether what is sent to it is signed' }),
  problem: Type.Optional(
    Type.String({
      description: 'Why nothing can be sent to it as the service is configured now: its deliveries fail',
    }),
  ),
  createdBy: Type.String({ description: 'Id of the user who created it' }),
  createdByUser: User,
  createdAt: Instant,
  updatedAt: Instant,
});
export type NotificationEndpoint = Static<typeof NotificationEndpoint>;

export const NotificationAssignment = replyObject('NotificationAssignment', {
  id: Text,
  notificationEndpointId: Type.String({ description: 'Id of the endpoint' }),
  eventNames: Type.Array(oneOf(notificationEvents), {
    description: 'Events that it hears of; empty: no longer assigned',
  }),
  createdBy: Type.String({ description: 'Id of the user who assigned it' }),
  createdByUser: User,
});
export type NotificationAssignment = Static<typeof NotificationAssignment>;

export const NotificationRequest = replyObject('NotificationRequest', {
  method: Type.String({ description: 'POST, or SMTP for e-mail' }),
  address: Type.String({
    description: 'Scheme and host, or the recipients; the rest of an address is a secret',
  }),
  headers: mapOf(Text, 'Headers that were sent'),
  body: Type.String({ description: 'What was sent' }),
});
export type NotificationRequest = Static<typeof NotificationRequest>;

export const NotificationResponse = replyObject('NotificationResponse', {
  status: Type.Integer({ description: 'Status of the answer; of a mail server: the code of its last reply' }),
  body: Type.String({ description: 'The first 4 KB' }),
});
export type NotificationResponse = Static<typeof NotificationResponse>;

export const NotificationError = replyObject('NotificationError', {
  type: oneOf(deliveryErrorTypes),
  message: Text,
});
export type NotificationError = Static<typeof NotificationError>;

const Duration = Type.Integer({ minimum: 0, description: 'How long it took' });

export const NotificationTest = replyObject('NotificationTest', {
  request: { ...NotificationRequest, description: 'What was sent' },
  response: { ...NotificationResponse, description: 'What was answered' },
  error: NotificationError,
  durationMilliseconds: Duration,
});
export type NotificationTest = Static<typeof NotificationTest>;

const deliveryFields = {
  id: Text,
  eventId: Type.String({
    description: 'The same for all endpoints that hear of an event, and for all attempts',
  }),
  endpointId: Type.String({ description: 'Id of the endpoint' }),
  endpointName: Type.String({ description: 'Name of the endpoint' }),
  endpointType: oneOf(endpointTypes, 'Type of the endpoint'),
  organizationId: Text,
  projectId: Text,
  environmentId: Type.Optional({ ...Text, description: 'Absent for events of a whole project' }),
  environmentName: Type.Optional(Type.String({ description: 'Name of the environment when it happened' })),
  deploymentLogId: Type.Optional(Text),
  eventName: oneOf(notificationEvents, 'What happened'),
  status: oneOf(deliveryStatuses),
  attempts: Type.Integer({ minimum: 0, description: 'How often it was tried' }),
  createdAt: Instant,
  nextAttemptAt: Type.Optional(
    Type.String({ format: 'date-time', description: 'While it waits: not before this time' }),
  ),
  finishedAt: Type.Optional(Instant),
  error: Type.Optional(Type.String({ description: 'Why the last attempt failed' })),
};

export const NotificationDelivery = replyObject('NotificationDelivery', deliveryFields);
export type NotificationDelivery = Static<typeof NotificationDelivery>;

export const NotificationDeliveries = replyObject('NotificationDeliveries', {
  deliveries: Type.Array(NotificationDelivery, { description: 'Newest first' }),
  nextPageKey: Type.String({ description: '`offset` of the next page; empty on the last one' }),
});
export type NotificationDeliveries = Static<typeof NotificationDeliveries>;

export const NotificationAttempt = replyObject('NotificationAttempt', {
  number: Type.Integer({ minimum: 0, description: 'From 1' }),
  startedAt: Instant,
  durationMilliseconds: Duration,
  response: { ...NotificationResponse, description: 'What was answered' },
  error: NotificationError,
});
export type NotificationAttempt = Static<typeof NotificationAttempt>;

export const NotificationDeliveryDetails = replyObject('NotificationDeliveryDetails', {
  ...deliveryFields,
  request: { ...NotificationRequest, description: 'What was sent last' },
  tries: Type.Array(NotificationAttempt, { description: 'Oldest first' }),
});
export type NotificationDeliveryDetails = Static<typeof NotificationDeliveryDetails>;

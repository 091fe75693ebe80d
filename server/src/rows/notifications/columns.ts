/** Types of columns that are text, numbers or JSON to the database. */
import type { DeliveryStatus, EndpointType, NotificationEvent } from '#contract/notifications/events.ts';
import type {
  NotificationError,
  NotificationRequest,
  NotificationResponse,
} from '#contract/notifications/shapes.ts';
import type { EventFacts } from './stored-facts.ts';

export interface Columns {
  'notification_endpoint.type': EndpointType;
  'notification_assignment.event_names': NotificationEvent[];
  'notification_delivery.event_name': NotificationEvent;
  'notification_delivery.facts': EventFacts;
  'notification_delivery.status': DeliveryStatus;
  'notification_delivery.last_request': NotificationRequest;
  'notification_attempt.response': NotificationResponse;
  'notification_attempt.error': NotificationError;
}

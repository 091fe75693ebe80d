/** Notifications: endpoints, what each project tells them, and deliveries. */
import type { Family } from '../../framework/family.ts';
import { deliveryHome } from '../../rows/notifications/delivery-store.ts';
import { endpointHome, lockEndpoint } from '../../rows/notifications/endpoint-store.ts';
import { assignmentRoutes } from './assignment-routes.ts';
import { deliverUntil } from './delivery/courier.ts';
import { deliveryRoutes } from './delivery-routes.ts';
import { endpointRoutes } from './endpoint-routes.ts';
import { keepLog } from './keep-log.ts';
import { rememberAssignments } from './notified-organizations.ts';
import { notificationReactions } from './record-event.ts';

export const family: Family = {
  name: 'notifications',
  routes: [...endpointRoutes, ...assignmentRoutes, ...deliveryRoutes],
  plugin: (app, context) => {
    app.addHook('onReady', () => rememberAssignments(context));
  },
  loops: [
    { name: 'notifications', everySeconds: 5, pass: deliverUntil },
    { name: 'log of notifications', everySeconds: 60, pass: keepLog },
  ],
  reactions: notificationReactions,
  entities: { notificationEndpoint: endpointHome, notificationDelivery: deliveryHome },
  locks: { notificationEndpoint: lockEndpoint },
  tables: [
    'notification_endpoint',
    'notification_assignment',
    'notification_delivery',
    'notification_attempt',
  ],
};

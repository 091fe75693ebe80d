/** Event streams of a deployment and of an organization. */
import type { Family } from '../family.ts';
import { forgetOrganizationEvents } from './organization-events.ts';

export const family: Family = {
  name: 'feeds',
  loops: [
    {
      name: 'old events of organizations',
      everySeconds: 3600,
      pass: forgetOrganizationEvents,
    },
  ],
  tables: ['deployment_event', 'organization_event'],
};

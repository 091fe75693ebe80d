/** Event streams of a deployment and of an organization. */
import { operations } from '#contract/operations.ts';
import type { Family } from '../../framework/family.ts';
import { streamRoute } from '../../framework/http/route.ts';
import { forgetOrganizationEvents } from './organization-events.ts';
import { streamOrganization } from './stream-organization.ts';

export const family: Family = {
  name: 'feeds',
  routes: [
    streamRoute(operations.streamOrganization, async (context, { params, query }, wire) => {
      await streamOrganization(context, params.id, query, wire);
    }),
  ],
  loops: [
    {
      name: 'old events of organizations',
      everySeconds: 3600,
      pass: forgetOrganizationEvents,
    },
  ],
  tables: ['deployment_event', 'organization_event'],
};

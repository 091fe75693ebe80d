/** People in organizations: invitations, removal, and the end of an account. */
import type { Family } from '../family.ts';
import { invitationHome } from './invitation-store.ts';
import { peopleRoutes } from './people-routes.ts';

export const family: Family = {
  name: 'people',
  routes: peopleRoutes,
  entities: { invitation: invitationHome },
  tables: ['invitation', 'password_reset', 'sign_in_link'],
};

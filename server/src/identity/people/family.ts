/** People in organizations: invitations, removal, and the end of an account. */
import type { Family } from '../../framework/family.ts';
import { invitationHome } from '../../rows/people/invitation-store.ts';
import { peopleRoutes } from './people-routes.ts';

export const family: Family = {
  name: 'people',
  routes: peopleRoutes,
  entities: { invitation: invitationHome },
  tables: ['invitation', 'password_reset', 'sign_in_link'],
};

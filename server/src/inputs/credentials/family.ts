/** Credentials of clouds. */
import type { Family } from '../../framework/family.ts';
import { credentialHome, lockCredentialRow } from '../../rows/credentials/credential-store.ts';
import { credentialRoutes } from './credential-routes.ts';

export const family: Family = {
  name: 'credentials',
  routes: credentialRoutes,
  entities: { credential: credentialHome },
  locks: {
    credential: async (tx, id) => {
      await lockCredentialRow(tx, id);
    },
  },
  tables: ['credential', 'credential_assignment'],
};

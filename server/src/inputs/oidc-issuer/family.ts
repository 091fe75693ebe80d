/** Tokens by which runs prove to clouds who they are. */
import type { Family } from '../../framework/family.ts';
import { issuerDocuments, issuerRoutes } from './issuer-routes.ts';
import { rotateKeys } from './rotate-keys.ts';
import { issuerOf } from './run-token.ts';

export const family: Family = {
  name: 'oidc-issuer',
  routes: issuerRoutes,
  plugin: issuerDocuments,
  loops: [
    {
      name: 'rotation of the keys for tokens of runs',
      everySeconds: 3600,
      pass: async (context) => {
        if (issuerOf(context) !== null) await rotateKeys(context);
      },
    },
  ],
  tables: ['oidc_key'],
};

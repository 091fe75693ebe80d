/** Sign-in through an identity provider (OpenID Connect), and of the command line through a browser. */
import type { Context } from '../../framework/context.ts';
import type { Family } from '../../framework/family.ts';
import { deleteExpiredRequests } from '../../rows/single-sign-on/request-store.ts';
import { singleSignOnRoutes } from './single-sign-on-routes.ts';

export const family: Family = {
  name: 'single-sign-on',
  routes: singleSignOnRoutes,
  loops: [
    {
      name: 'expired sign-ins',
      everySeconds: 3600,
      pass: ({ db, now }: Context) => deleteExpiredRequests(db, now()),
    },
  ],
  tables: ['cli_code', 'oidc_request'],
};

/** Sign-in through an identity provider (OpenID Connect), and of the command line through a browser. */
import { operations } from '#contract/operations.ts';
import type { Context } from '../../framework/context.ts';
import type { Family } from '../../framework/family.ts';
import { type Route, route, streamRoute } from '../../framework/http/route.ts';
import { deleteExpiredRequests } from '../../rows/single-sign-on/request-store.ts';
import { loopbackAddress } from './loopback.ts';
import { approveCli, beginSignIn, exchangeCliCode, finishSignIn, localPath } from './sign-in.ts';

const singleSignOnRoutes: Route[] = [
  streamRoute(operations.startSingleSignOn, async (context, { query }, wire) => {
    const returnTo = localPath('query.returnTo', query.returnTo ?? '/');
    return wire.reply.redirect(await beginSignIn(context, wire, { returnTo, cli: null }));
  }),
  streamRoute(operations.finishSingleSignOn, async (context, { query }, wire) =>
    wire.reply.redirect(await finishSignIn(context, wire, query.state ?? '')),
  ),
  streamRoute(operations.startCliSignIn, async (context, { query }, wire) => {
    const { redirectUri, codeChallenge, state } = query;
    loopbackAddress('query.redirectUri', redirectUri);
    const cli = { redirectUri, codeChallenge, state };
    return wire.reply.redirect(await beginSignIn(context, wire, { returnTo: '/', cli }));
  }),
  route(operations.approveCliSignIn, (context, { body }, wire) => approveCli(context, wire, body)),
  route(operations.exchangeCliCode, (context, { body }, wire) => exchangeCliCode(context, wire, body)),
];

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

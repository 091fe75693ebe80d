/** Sign-in through an identity provider, and of the command line through a browser. */
import { Type } from 'typebox';
import { defineOperations, operation } from '../schema/operation.ts';
import { closed } from '../schema/schema.ts';
import { CliSession } from '../sign-in/shapes.ts';

const Redirect = Type.String({ description: 'The address that the header `Location` names' });
const RedirectUri = Type.String({
  maxLength: 500,
  description: 'http://127.0.0.1:<port>/… or http://[::1]:<port>/…: where the command line listens',
});
const cli = {
  redirectUri: RedirectUri,
  codeChallenge: Type.String({
    pattern: '^[A-Za-z0-9_-]{43}$',
    description: 'SHA-256 of the code verifier in base64url',
  }),
  state: Type.String({
    pattern: '^[A-Za-z0-9._~-]{1,200}$',
    description: 'Any text of the command line, returned with the code',
  }),
};

export const operations = defineOperations('single sign-on', {
  startSingleSignOn: operation('GET', '/auth/oidc/start', {
    summary: 'Begin sign-in through the identity provider',
    description: 'For browsers: leads to the identity provider (302).',
    needs: 'nothing',
    refusesWith: ['forbidden', 'not_found'],
    query: Type.Object({
      returnTo: Type.Optional(
        Type.String({ maxLength: 2000, description: 'Path to return to after the sign-in; default /' }),
      ),
    }),
    replyKind: 'redirect',
    reply: Redirect,
  }),
  finishSingleSignOn: operation('GET', '/auth/oidc/callback', {
    summary: 'Finish sign-in through the identity provider',
    description: 'The identity provider leads browsers here. Starts a session and leads on (302).',
    needs: 'nothing',
    refusesWith: ['forbidden', 'not_found'],
    query: Type.Object({
      state: Type.Optional(Type.String({ maxLength: 200, description: 'As it was sent to the provider' })),
    }),
    replyKind: 'redirect',
    reply: Redirect,
  }),
  startCliSignIn: operation('GET', '/auth/cli/start', {
    summary: 'Begin sign-in of the command line through the identity provider',
    description:
      'The command line opens this in a browser. After the sign-in the browser is led to `redirectUri` with ' +
      '`code` and `state`, or with `error` and `error_description` (302).',
    needs: 'nothing',
    refusesWith: ['forbidden', 'not_found'],
    query: Type.Object(cli),
    replyKind: 'redirect',
    reply: Redirect,
  }),
  approveCliSignIn: operation('POST', '/auth/cli/approve', {
    summary: 'Let the command line sign in',
    description: 'For a page that asks the person who is signed in. The page then opens `location`.',
    needs: 'signed-in',
    body: closed(cli),
    reply: Type.Object({ location: Type.String({ description: 'Where to send the browser' }) }),
  }),
  exchangeCliCode: operation('POST', '/auth/cli/token', {
    summary: 'Exchange code for a session of the command line',
    description: 'Within 60 seconds, and once.',
    needs: 'nothing',
    body: closed({
      code: Type.String({ maxLength: 200, description: 'As it arrived at `redirectUri`' }),
      codeVerifier: Type.String({
        pattern: '^[A-Za-z0-9._~-]{43,128}$',
        description: 'The text whose hash was sent as `codeChallenge`',
      }),
      redirectUri: RedirectUri,
    }),
    reply: CliSession,
  }),
});

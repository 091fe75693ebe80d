/** Settings of sign-in, which the server reads. */
import { claimRules } from './claim-rules.ts';
import { type SettingTable, setting } from './declaration.ts';
import { count, flag, issuerAddress, oneWord, secretText, text } from './types.ts';

export const signInSettings = {
  passwordSignIn: setting({
    name: 'ENVARIUM_PASSWORD_SIGN_IN',
    type: flag,
    default: 'true',
    sentence: 'Whether people can sign in with e-mail and password.',
  }),
  invitationDays: setting({
    name: 'ENVARIUM_INVITATION_DAYS',
    type: count(1, 365),
    default: '7',
    sentence: 'Time after which an invitation can no longer be accepted.',
  }),
  organizationCreators: setting({
    name: 'ENVARIUM_ORGANIZATION_CREATORS',
    type: oneWord(['everyone', 'admins', 'operator']),
    default: 'everyone',
    sentence:
      'Who may create organizations: everyone with an account or an API key, only those with the role Admin in an ' +
      'organization, or only the operator, who has the first key of the installation and always may.',
  }),
  sessionIdleMinutes: setting({
    name: 'ENVARIUM_SESSION_IDLE_MINUTES',
    type: count(1, 525_600),
    default: '720',
    sentence: 'Time without a request after which the session of a browser ends.',
  }),
  sessionHours: setting({
    name: 'ENVARIUM_SESSION_HOURS',
    type: count(1, 8760),
    default: '168',
    sentence: 'Time after which the session of a browser ends, however much it is used.',
  }),
  cliSessionDays: setting({
    name: 'ENVARIUM_CLI_SESSION_DAYS',
    type: count(1, 3650),
    default: '30',
    sentence: 'Time after which a sign-in of the command line ends.',
  }),
  oidcIssuer: setting({
    name: 'ENVARIUM_OIDC_ISSUER',
    type: issuerAddress,
    sentence:
      'Identity provider (OpenID Connect) through which people sign in: its issuer, below which ' +
      '/.well-known/openid-configuration describes it. Exactly as the provider writes it. Requires ENVARIUM_BASE_URL.',
  }),
  oidcClientId: setting({
    name: 'ENVARIUM_OIDC_CLIENT_ID',
    type: text,
    sentence: 'Id of the client that the identity provider has registered for this installation.',
  }),
  oidcClientSecret: setting({
    name: 'ENVARIUM_OIDC_CLIENT_SECRET',
    type: secretText,
    orFile: true,
    sentence: 'Secret of that client. Default: none, for a public client.',
  }),
  oidcScopes: setting({
    name: 'ENVARIUM_OIDC_SCOPES',
    type: text,
    default: 'openid email profile',
    sentence: 'Scopes to request, separated by blanks; must include openid and email.',
  }),
  oidcName: setting({
    name: 'ENVARIUM_OIDC_NAME',
    type: text,
    default: 'Single sign-on',
    sentence: 'Name of the identity provider on the button for signing in.',
  }),
  oidcClaim: setting({
    name: 'ENVARIUM_OIDC_CLAIM',
    type: text,
    default: 'groups',
    sentence: 'Claim whose values determine memberships by the rules.',
  }),
  oidcRules: setting({
    name: 'ENVARIUM_OIDC_RULES',
    type: claimRules,
    default: '[]',
    orFile: true,
    sentence:
      'Rules by which the values of the claim make people members of organizations and teams, at each sign-in ' +
      '(docs/operate/sign-in.md). Without a rule, only invited people become members.',
  }),
} satisfies SettingTable;

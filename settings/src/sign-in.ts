/** Settings of sign-in, which the server reads. */
import { type SettingTable, setting } from './declaration.ts';
import { count, flag } from './types.ts';

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
} satisfies SettingTable;

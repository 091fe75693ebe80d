/** The server's settings, read once at start. Its table is `settings/src/server.ts`. */

import { serverSettings } from '#settings/server.ts';
import { readProgramSettings, type ServerSettings, SettingsError } from '#settings/settings.ts';

export type { ServerSettings };
export { SettingsError };

/**
 * Reads and checks all settings of the server.
 * @param environment usually `process.env`
 * @throws SettingsError with one sentence per problem, each naming the setting and what is allowed
 */
export function readSettings(environment: Readonly<Record<string, string | undefined>>): ServerSettings {
  const settings = readProgramSettings(serverSettings, environment);
  if ((settings.bootstrapApiKey === undefined) !== (settings.bootstrapApiSecret === undefined)) {
    throw new SettingsError([
      'ENVARIUM_BOOTSTRAP_API_KEY and ENVARIUM_BOOTSTRAP_API_SECRET belong together; set both or neither.',
    ]);
  }
  if ((settings.tlsCertificateFile === undefined) !== (settings.tlsKeyFile === undefined)) {
    throw new SettingsError([
      'ENVARIUM_TLS_CERT_FILE and ENVARIUM_TLS_KEY_FILE belong together; set both or neither.',
    ]);
  }
  if ((settings.oidcIssuer === undefined) !== (settings.oidcClientId === undefined)) {
    throw new SettingsError([
      'ENVARIUM_OIDC_ISSUER and ENVARIUM_OIDC_CLIENT_ID belong together; set both or neither.',
    ]);
  }
  if (settings.oidcIssuer !== undefined && settings.baseUrl === undefined) {
    throw new SettingsError([
      'ENVARIUM_OIDC_ISSUER requires ENVARIUM_BASE_URL: the identity provider sends people back to that address.',
    ]);
  }
  checkMail(settings);
  const { databaseUid, slotUidBase, slotUidCount } = settings;
  if (databaseUid !== undefined && databaseUid >= slotUidBase && databaseUid < slotUidBase + slotUidCount) {
    throw new SettingsError([
      `ENVARIUM_DATABASE_UID is ${databaseUid}, one of the user ids for runs (ENVARIUM_SLOT_UID_BASE, ENVARIUM_SLOT_UID_COUNT); choose another one.`,
    ]);
  }
  return settings;
}

/** @throws SettingsError for settings of the mail server that do not fit each other */
function checkMail({ smtpHost, smtpFrom, smtpUser, smtpPassword, smtpTls }: ServerSettings): void {
  if ((smtpHost === undefined) !== (smtpFrom === undefined))
    throw new SettingsError([
      'ENVARIUM_SMTP_HOST and ENVARIUM_SMTP_FROM belong together; set both or neither.',
    ]);
  if ((smtpUser === undefined) !== (smtpPassword === undefined))
    throw new SettingsError([
      'ENVARIUM_SMTP_USER and ENVARIUM_SMTP_PASSWORD belong together; set both or neither.',
    ]);
  if (smtpUser !== undefined && smtpTls === 'opportunistic')
    throw new SettingsError([
      'ENVARIUM_SMTP_TLS must be required or implicit with ENVARIUM_SMTP_USER: the password would otherwise be sent in the clear.',
    ]);
}

/** Settings of notifications, which the server reads. */
import { type SettingTable, setting } from './declaration.ts';
import { count, hosts, networks, oneWord, secretText, text, webAddress } from './types.ts';

export const notificationSettings = {
  notificationNetworks: setting({
    name: 'ENVARIUM_NOTIFICATION_NETWORKS',
    type: networks,
    default: '',
    sentence:
      'Private and local networks that webhooks, Slack and Teams may be in. All other private and local networks are ' +
      'refused, whichever host name resolves to them.',
  }),
  notificationHttpHosts: setting({
    name: 'ENVARIUM_NOTIFICATION_HTTP_HOSTS',
    type: hosts,
    default: '',
    sentence: 'Hosts that notifications may be sent to over plain http.',
  }),
  notificationProxy: setting({
    name: 'ENVARIUM_NOTIFICATION_PROXY',
    type: webAddress,
    sentence:
      'Forward proxy for webhooks, Slack and Teams. It then decides which hosts they reach: the service does not see ' +
      'their addresses. Default: none, also where HTTPS_PROXY is set.',
  }),
  smtpHost: setting({
    name: 'ENVARIUM_SMTP_HOST',
    type: text,
    sentence: 'Mail server for notifications by e-mail. Default: none, and no such notifications.',
  }),
  smtpPort: setting({
    name: 'ENVARIUM_SMTP_PORT',
    type: count(1, 65_535),
    sentence: 'Port of the mail server. Default: 587, or 465 with ENVARIUM_SMTP_TLS=implicit.',
  }),
  smtpTls: setting({
    name: 'ENVARIUM_SMTP_TLS',
    type: oneWord(['required', 'implicit', 'opportunistic']),
    default: 'required',
    sentence:
      'TLS to the mail server: from the first byte (implicit), by STARTTLS or not at all (required), or by STARTTLS ' +
      'where the server offers it (opportunistic, without a user only).',
  }),
  smtpUser: setting({
    name: 'ENVARIUM_SMTP_USER',
    type: text,
    sentence: 'User at the mail server; requires the password, too. Default: no sign-in.',
  }),
  smtpPassword: setting({
    name: 'ENVARIUM_SMTP_PASSWORD',
    type: secretText,
    orFile: true,
    sentence: 'Password of that user.',
  }),
  smtpFrom: setting({
    name: 'ENVARIUM_SMTP_FROM',
    type: text,
    sentence: 'Sender of e-mails, as an address or `Name <address>`; required with ENVARIUM_SMTP_HOST.',
  }),
} satisfies SettingTable;

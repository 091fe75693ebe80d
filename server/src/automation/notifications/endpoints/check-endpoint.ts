/** Checks of the endpoint in a request, before anything is stored. */
import type { EndpointType } from '#contract/notifications/events.ts';
import type { ServerSettings } from '../../../ground/config/config.ts';
import { badField } from '../../../ground/errors.ts';
import { problemOfAddress } from './guarded-address.ts';

export const creatorPlaceholder = '$ENVIRONMENT_CREATOR$';
export const deployerPlaceholder = '$DEPLOYER$';

const mostRecipients = 50;
const mailbox = /^[^\s@<>()[\]\\,;:"\p{Cc}]{1,64}@[^\s@<>()[\]\\,;:"\p{Cc}]{1,253}$/u;

type EndpointSettings = Pick<ServerSettings, 'notificationHttpHosts' | 'notificationNetworks'>;

/** Why nothing can be sent to endpoints of a type now, whatever their value is; null: it can. */
export function endpointProblem(
  { smtpHost, smtpFrom }: Pick<ServerSettings, 'smtpHost' | 'smtpFrom'>,
  type: EndpointType,
): string | null {
  if (type !== 'Email' || (smtpHost !== undefined && smtpFrom !== undefined)) return null;
  return 'No mail server is configured (ENVARIUM_SMTP_HOST, ENVARIUM_SMTP_FROM)';
}

/** Whether a text is one plain address, and nothing that a mail server would read as more. */
export function isMailbox(text: string): boolean {
  return mailbox.test(text);
}

/** The recipients of an e-mail endpoint: addresses and placeholders. */
export function recipientsOf(value: string): string[] {
  const parts = value
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
  return [...new Set(parts)];
}

function checkRecipients(value: string): void {
  const recipients = recipientsOf(value);
  if (recipients.length === 0 || recipients.length > mostRecipients)
    throw badField('body.value', `must list 1 to ${mostRecipients} addresses, separated by commas`);
  for (const recipient of recipients)
    if (recipient !== creatorPlaceholder && recipient !== deployerPlaceholder && !isMailbox(recipient))
      throw badField(
        'body.value',
        `has "${recipient}": list e-mail addresses, ${creatorPlaceholder} and ${deployerPlaceholder}, separated by commas`,
      );
}

/**
 * @throws Refusal 400 that names the field: a value that does not fit the type, an address that is not reached from
 * here, a secret that nothing is signed with
 */
export function checkEndpoint(
  settings: EndpointSettings,
  type: EndpointType,
  value: string,
  webhookSecret: string | null,
): void {
  if (webhookSecret !== null && type !== 'Webhook')
    throw badField('body.webhookSecret', 'is for endpoints of type Webhook only: leave it out or send null');
  if (type === 'Email') {
    checkRecipients(value);
    return;
  }
  const problem = problemOfAddress(settings, value);
  if (problem !== null) throw badField('body.value', problem);
}

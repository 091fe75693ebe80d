/** Sends one notification to one endpoint, once. */
import type { Context } from '../../../framework/context.ts';
import { type EndpointRow, openSecret, openValue } from '../../../rows/notifications/endpoint-store.ts';
import { cloudEventOf, cloudEventType } from '../messages/cloud-event.ts';
import { mailboxesFor, mailText } from '../messages/mail.ts';
import type { Notification } from '../messages/notification.ts';
import { slackMessage } from '../messages/slack.ts';
import { teamsMessage } from '../messages/teams.ts';
import { wordsOf } from '../messages/words.ts';
import { sendMail } from './mail.ts';
import { postTo } from './post.ts';
import type { SentNotification } from './sent.ts';
import { signatureHeaders } from './signature.ts';

type SendContext = Pick<Context, 'settings' | 'sealer' | 'now'>;

const json = { 'content-type': 'application/json', 'user-agent': 'envarium-webhook' };

/** The part of an address with which anyone can post to it. */
function secretsOf(address: string): string[] {
  const url = URL.parse(address);
  const path = url === null ? '' : `${url.pathname}${url.search}`;
  return path.length > 1 ? [address, path] : [address];
}

function webhookHeaders(
  { now }: Pick<Context, 'now'>,
  endpoint: EndpointRow,
  notification: Notification,
  { secret, body }: { readonly secret: string | null; readonly body: string },
): Record<string, string> {
  return {
    ...json,
    'x-envarium-notification-target-id': endpoint.id,
    'x-envarium-event': cloudEventType(notification),
    'x-envarium-event-id': notification.eventId,
    ...(secret === null ? {} : signatureHeaders(secret, body, now())),
  };
}

async function mailTo(
  { settings }: SendContext,
  value: string,
  notification: Notification,
  deliveredTo: readonly string[],
  closing: AbortSignal,
): Promise<SentNotification> {
  const all = mailboxesFor(value, notification);
  const to = all.filter((box) => !deliveredTo.includes(box));
  // Those who did not get it were removed from the endpoint.
  if (to.length === 0 && all.length > 0) return { request: null, response: null, error: null };
  if (to.length === 0) {
    const message =
      notification.event === null
        ? 'A test has no creator and no deployer: add an address to send it to'
        : 'No one to send it to: the creator and the deployer of this event have no e-mail address';
    return { request: null, response: null, error: { type: 'unknown', message }, isFinal: true };
  }
  const mail = { ...mailText(wordsOf(notification)), to, id: notification.eventId };
  return sendMail(settings, mail, closing);
}

/**
 * Never throws for what the endpoint does.
 * @param closing aborted when the server stops
 * @param deliveredTo recipients of an e-mail who got it by an earlier attempt
 */
export async function sendNotification(
  context: SendContext,
  endpoint: EndpointRow,
  notification: Notification,
  closing: AbortSignal,
  deliveredTo: readonly string[] = [],
): Promise<SentNotification> {
  const address = openValue(context, endpoint);
  if (endpoint.type === 'Email') return mailTo(context, address, notification, deliveredTo, closing);
  const secrets = secretsOf(address);
  if (endpoint.type === 'Webhook') {
    const body = JSON.stringify(cloudEventOf(notification));
    const secret = openSecret(context, endpoint);
    const headers = webhookHeaders(context, endpoint, notification, { secret, body });
    const all = secret === null ? secrets : [...secrets, secret];
    return postTo(context.settings, { address, headers, body, secrets: all }, closing);
  }
  const words = wordsOf(notification);
  const body = JSON.stringify(endpoint.type === 'Slack' ? slackMessage(words) : teamsMessage(words));
  return postTo(context.settings, { address, headers: json, body, secrets }, closing);
}

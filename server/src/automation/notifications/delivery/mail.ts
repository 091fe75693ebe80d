/** Hands a message to the mail server of the settings. */
import { domainToASCII } from 'node:url';
import { createTransport } from 'nodemailer';
import type { ServerSettings } from '../../../ground/config/config.ts';
import { endpointProblem } from '../endpoints/check-endpoint.ts';
import { errorOf, mostAnswerBytes, type SentNotification, shownText, timeLimitMilliseconds } from './sent.ts';

export type MailSettings = Pick<
  ServerSettings,
  'smtpHost' | 'smtpPort' | 'smtpTls' | 'smtpUser' | 'smtpPassword' | 'smtpFrom'
>;

/** In total: of each part of the conversation, the limit is shorter. */
const longestMilliseconds = 30_000;

export interface Mail {
  readonly to: readonly string[];
  readonly subject: string;
  readonly text: string;
  /** The same for each attempt, so that a mail program can tell. */
  readonly id: string;
}

function transportTo(settings: MailSettings, host: string) {
  const { smtpPort: port, smtpTls: tls, smtpUser: user, smtpPassword: password } = settings;
  return createTransport({
    host,
    port: port ?? (tls === 'implicit' ? 465 : 587),
    secure: tls === 'implicit',
    requireTLS: tls === 'required',
    connectionTimeout: timeLimitMilliseconds,
    greetingTimeout: timeLimitMilliseconds,
    socketTimeout: timeLimitMilliseconds,
    disableFileAccess: true,
    disableUrlAccess: true,
    ...(user === undefined ? {} : { auth: { user, pass: password?.reveal() ?? '' } }),
  });
}

/** The code at the beginning of a reply; 0 where there is none. */
function codeOf(reply: string): number {
  return Number(/^\d{3}/.exec(reply)?.[0] ?? 0);
}

function explained(
  error: unknown,
  settings: MailSettings,
  secrets: readonly string[],
): SentNotification['error'] {
  const known = errorOf(error, secrets);
  const { code, response } = error as { code?: string; response?: string };
  const isWithoutTls = code === 'ETLS' || /STARTTLS/i.test(known.message);
  if (isWithoutTls && settings.smtpTls === 'required' && !/certificate/i.test(known.message))
    return {
      type: 'ssl-error',
      message: `The mail server does not offer TLS (STARTTLS), which ENVARIUM_SMTP_TLS=required demands; nothing was sent (${known.message})`,
    };
  return response === undefined
    ? known
    : { ...known, message: `The mail server refused it: ${known.message}` };
}

/** Nodemailer's errors for a recipient that the mail server refused. */
interface Refused {
  readonly recipient?: string | undefined;
  readonly response?: string | undefined;
  readonly message: string;
  /** Whether the same message will not be accepted later. */
  readonly permanent?: boolean | undefined;
}

/** As the mail server knows a mailbox. */
function known(box: string): string {
  const at = box.lastIndexOf('@');
  const local = box.slice(0, at).replace(/^"(.*)"$/, '$1');
  return `${local}@${domainToASCII(box.slice(at + 1))}`.toLowerCase();
}

/** Those who were not refused; none if that is not certain. */
function acceptedOf(refused: readonly Refused[], { to }: Pick<Mail, 'to'>): string[] {
  const boxes = new Set(refused.map(({ recipient = '' }) => known(recipient)));
  const accepted = to.filter((box) => !boxes.has(known(box)));
  return accepted.length === to.length - boxes.size ? accepted : [];
}

/**
 * The result of an e-mail that some recipients, or all, were refused.
 * @param deliveredTo those who got it
 */
function refusedBy(
  refused: readonly Refused[],
  { to, deliveredTo }: Pick<Mail, 'to'> & { readonly deliveredTo: readonly string[] },
  secrets: readonly string[],
): Pick<SentNotification, 'error' | 'isFinal' | 'deliveredTo'> {
  const named = refused.map(
    ({ recipient = '', response, message }) => `${recipient}: ${response ?? message}`,
  );
  const which =
    refused.length >= to.length ? 'all recipients' : `${refused.length} of ${to.length} recipients`;
  const message = shownText(`The mail server refused ${which}: ${named.join('; ')}`, secrets);
  return {
    error: { type: 'unknown', message },
    ...(refused.every(({ permanent }) => permanent === true) ? { isFinal: true } : {}),
    ...(deliveredTo.length === 0 ? {} : { deliveredTo }),
  };
}

/** Rejects when the server stops, or the mail server takes too long in total. */
function whenOver(closing: AbortSignal): Promise<never> {
  const over = AbortSignal.any([AbortSignal.timeout(longestMilliseconds), closing]);
  return new Promise((_, reject) => {
    over.addEventListener('abort', () => reject(over.reason as Error));
  });
}

/** Never throws. @returns what was sent, with the last reply of the mail server */
export async function sendMail(
  settings: MailSettings,
  mail: Mail,
  closing: AbortSignal,
): Promise<SentNotification> {
  const { smtpHost: host, smtpFrom: from, smtpPassword: password } = settings;
  if (host === undefined || from === undefined) {
    const message = endpointProblem(settings, 'Email') ?? '';
    return { request: null, response: null, error: { type: 'unknown', message } };
  }
  const secrets = password ? [password.reveal()] : [];
  const headers = { from, subject: mail.subject };
  const request = { method: 'SMTP', address: mail.to.join(', '), headers, body: mail.text };
  const transport = transportTo(settings, host);
  try {
    const sending = transport.sendMail({
      from,
      to: [...mail.to],
      subject: mail.subject,
      text: mail.text,
      messageId: `<${mail.id}@envarium>`,
      headers: { 'auto-submitted': 'auto-generated' },
    });
    const { response, rejectedErrors = [] } = await Promise.race([sending, whenOver(closing)]);
    const body = shownText(response.slice(0, mostAnswerBytes), secrets);
    const deliveredTo = acceptedOf(rejectedErrors, mail);
    const refused =
      rejectedErrors.length === 0
        ? { error: null }
        : refusedBy(rejectedErrors, { to: mail.to, deliveredTo }, secrets);
    return { request, response: { status: codeOf(response), body }, ...refused };
  } catch (error) {
    const { response, rejectedErrors } = error as { response?: string; rejectedErrors?: Refused[] };
    const body = response === undefined ? null : shownText(response.slice(0, mostAnswerBytes), secrets);
    return {
      request,
      response: body === null ? null : { status: codeOf(body), body },
      ...(rejectedErrors === undefined
        ? { error: explained(error, settings, secrets) }
        : refusedBy(rejectedErrors, { to: mail.to, deliveredTo: [] }, secrets)),
    };
  } finally {
    transport.close();
  }
}

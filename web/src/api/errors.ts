/** Every failed call as a title, a sentence and what to do: the one place that words errors. */
import { ApiError } from '#contract/client/client.ts';

export interface ErrorText {
  readonly title: string;
  readonly text: string;
  /** Remedy for a person. */
  readonly remedy?: string;
  /** For the operator who looks into the log. */
  readonly requestId?: string | undefined;
}

const titles: Readonly<Partial<Record<number, readonly [title: string, remedy?: string]>>> = {
  0: [
    'The service cannot be reached',
    'What you typed is kept: send it again when the service is back. It is done once.',
  ],
  400: ['The service did not accept this', 'Correct what the message names and send it again.'],
  401: ['You are no longer signed in', 'Sign in again: what you typed is kept.'],
  403: ['You may not do this', 'Ask someone who manages roles here. Your rights are in your profile.'],
  404: ['This does not exist', 'It was deleted, or you may not see it.'],
  409: ['This does not fit what is there now', 'Check what has changed, then try again.'],
  412: ['Changed by someone else', 'The page shows their version now. Apply your change to it again.'],
  413: ['This is too large', 'Send less at a time.'],
  429: ['Too many requests', 'Wait a moment, then try again.'],
  503: ['The service is busy', 'Try again in a moment.'],
};

/** @returns what to show for anything that a call can throw */
export function errorText(error: unknown): ErrorText {
  if (!(error instanceof ApiError)) {
    const text = error instanceof Error ? error.message : String(error);
    return { title: 'Something went wrong in this page', text, remedy: 'Reload the page.' };
  }
  const [title, remedy] = titles[error.status] ?? ['The service failed', 'Try again in a moment.'];
  return { title, text: error.message, ...(remedy ? { remedy } : {}), requestId: error.requestId };
}

/** Whether a call failed with this HTTP status; 0: the service could not be reached. */
export function isStatus(error: unknown, ...statuses: readonly number[]): boolean {
  return error instanceof ApiError && statuses.includes(error.status);
}

/** The field of a form that a refusal names, such as `ttl.value` for "/body/ttl/value must be …". */
export function fieldOf(error: unknown): string | undefined {
  const match = error instanceof ApiError ? /^\/body\/([^\s:,]+)/.exec(error.message) : null;
  return match?.[1]?.replaceAll('/', '.');
}

/** Message of a refusal about its field, without the field's path: "Must be a number of hours". */
export function fieldText(error: unknown): string {
  const text = errorText(error).text.replace(/^\/(body|query)\/[^\s:,]+[:,]?\s*/, '');
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/** A notification as an e-mail of plain text, and who gets it. */
import type { UserRow } from '../../../rows/users/user-store.ts';
import {
  creatorPlaceholder,
  deployerPlaceholder,
  isMailbox,
  recipientsOf,
} from '../endpoints/check-endpoint.ts';
import type { Notification } from './notification.ts';
import { beginningOf, type Words } from './words.ts';

const mostSubjectCharacters = 200;

export function mailText({ title, facts, error, link }: Words): { subject: string; text: string } {
  const parts = [
    title,
    facts.map(([name, value]) => `${name}: ${value}`).join('\n'),
    ...(error === null ? [] : [error]),
    ...(link === null ? [] : [link]),
  ];
  return {
    subject: beginningOf(`[Envarium] ${title}`, mostSubjectCharacters),
    text: `${parts.join('\n\n')}\n`,
  };
}

/** API keys and the service itself have no mailbox; addresses of people may come from a directory. */
function mailboxOf(user: UserRow | null): string | null {
  return user === null || user.is_api_key || !isMailbox(user.email) ? null : user.email;
}

/** The mailboxes of an endpoint for one event; a placeholder without a mailbox is left out. */
export function mailboxesFor(
  value: string,
  { creator, deployer }: Pick<Notification, 'creator' | 'deployer'>,
): string[] {
  const boxes = recipientsOf(value).map((recipient) => {
    if (recipient === creatorPlaceholder) return mailboxOf(creator);
    return recipient === deployerPlaceholder ? mailboxOf(deployer) : recipient;
  });
  return [...new Set(boxes.filter((box) => box !== null))];
}

/** Loop: logs when an agent loses contact and when it is back. What follows from silence is decided elsewhere. */
import type { Context } from '../context.ts';
import { listContacts } from './process-store.ts';
import { isUnreachable } from './contact.ts';

export const watchEverySeconds = 5;
const dayMilliseconds = 86_400_000;

/** Ids of the agent processes that were unreachable at the last pass, by service. */
const unreachable = new WeakMap<Context, ReadonlySet<string>>();

export async function watchContact(context: Context): Promise<void> {
  const now = context.now();
  const before = unreachable.get(context);
  const contacts = await listContacts(context.db, new Date(now.getTime() - dayMilliseconds));
  const silent = contacts.filter(({ contact_at }) => isUnreachable(contact_at, now));
  unreachable.set(context, new Set(silent.map(({ id }) => id)));
  // The first pass after a start only takes note: agents get in contact again one by one.
  if (!before) return;
  for (const { id, agent_key: agentKey, hostname, contact_at: contactAt } of contacts) {
    const fields = { agentId: id, agentKey, hostname, contactAt };
    const isSilent = isUnreachable(contactAt, now);
    if (isSilent && !before.has(id)) context.log.warn(fields, 'agent lost contact');
    if (!isSilent && before.has(id)) context.log.info(fields, 'agent is in contact again');
  }
}

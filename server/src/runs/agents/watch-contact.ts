/**
 * Loop: logs when an agent loses contact and when it is back, and tells readers of its organization. What follows
 * from silence is decided elsewhere.
 */
import type { Context } from '../../framework/context.ts';
import { listContacts } from '../../rows/agents/process-store.ts';
import { recordChange } from '../../rows/feeds/organization-news-store.ts';
import { reachableSince } from './contact.ts';

export const watchEverySeconds = 5;
const dayMilliseconds = 86_400_000;

type Contact = Awaited<ReturnType<typeof listContacts>>[number];

interface AgentContacts {
  /** By process. */
  readonly reachable: ReadonlyMap<string, Contact>;
  readonly silent: ReadonlyMap<string, Contact>;
}

/** Result of the last pass, by service. */
const lastSeen = new WeakMap<Context, AgentContacts>();

const byId = (contacts: readonly Contact[]) => new Map(contacts.map((each) => [each.id, each]));

function logChanges({ log }: Context, before: AgentContacts, now: AgentContacts): void {
  const fieldsOf = ({ id, agent_key: agentKey, hostname, contact_at: contactAt }: Contact) => ({
    agentId: id,
    agentKey,
    hostname,
    contactAt,
  });
  for (const [id, each] of now.silent)
    if (!before.silent.has(id)) log.warn(fieldsOf(each), 'agent lost contact');
  for (const [id, each] of now.reachable)
    if (before.silent.has(id)) log.info(fieldsOf(each), 'agent is in contact again');
}

/** The agents of which a process came or went. */
function changedAgents(
  before: AgentContacts['reachable'],
  now: AgentContacts['reachable'],
): Map<string, Contact> {
  const come = [...now].filter(([id]) => !before.has(id));
  const gone = [...before].filter(([id]) => !now.has(id));
  return new Map([...come, ...gone].map(([, each]) => [each.agent_id, each]));
}

export async function watchContact(context: Context): Promise<void> {
  const now = context.now();
  const before = lastSeen.get(context);
  const contacts = await listContacts(context.db, new Date(now.getTime() - dayMilliseconds));
  const since = reachableSince(context);
  const isSilent = ({ contact_at: at }: Contact) => at < since;
  const seen = {
    silent: byId(contacts.filter(isSilent)),
    reachable: byId(contacts.filter((each) => !isSilent(each))),
  };
  lastSeen.set(context, seen);
  // The first pass after a start only takes note: agents get in contact again one by one.
  if (!before) return;
  logChanges(context, before, seen);
  for (const [id, { organization_id: organizationId }] of changedAgents(before.reachable, seen.reachable))
    await recordChange(context, {
      organizationId,
      projectId: null,
      environmentId: null,
      entity: 'agent',
      id,
    });
}

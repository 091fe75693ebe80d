/**
 * Loop: logs when an agent loses contact and when it is back, and tells readers of its organization, also where jobs
 * have waited for so long that an agent may be degraded. What follows
 * from silence is decided elsewhere.
 */
import type { Context } from '../../framework/context.ts';
import { listContacts } from '../../rows/agents/process-store.ts';
import { countWaitingSince } from '../../rows/dispatch/load-store.ts';
import { recordChange } from '../../rows/feeds/organization-news-store.ts';
import { degradedAfterMilliseconds } from './agent-health.ts';
import { reachableSince } from './contact.ts';

export const watchEverySeconds = 5;
const dayMilliseconds = 86_400_000;

type Contact = Awaited<ReturnType<typeof listContacts>>[number];

interface AgentContacts {
  /** Number of jobs that have waited for so long that an agent may be degraded, by organization. */
  readonly waiting: ReadonlyMap<string, number>;
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

/** The organizations in which an agent may have become degraded, or no longer be that. */
function changedWaits(before: AgentContacts['waiting'], now: AgentContacts['waiting']): string[] {
  const organizationIds = new Set([...before.keys(), ...now.keys()]);
  return [...organizationIds].filter((id) => before.get(id) !== now.get(id));
}

export async function watchContact(context: Context): Promise<void> {
  const now = context.now();
  const before = lastSeen.get(context);
  const [contacts, waiting] = await Promise.all([
    listContacts(context.db, new Date(now.getTime() - dayMilliseconds)),
    countWaitingSince(context.db, new Date(now.getTime() - degradedAfterMilliseconds)),
  ]);
  const since = reachableSince(context);
  const isSilent = ({ contact_at: at }: Contact) => at < since;
  const seen = {
    waiting,
    silent: byId(contacts.filter(isSilent)),
    reachable: byId(contacts.filter((each) => !isSilent(each))),
  };
  lastSeen.set(context, seen);
  // The first pass after a start only takes note: agents get in contact again one by one.
  if (!before) return;
  logChanges(context, before, seen);
  const changed = [...changedAgents(before.reachable, seen.reachable)].map(([id, each]) => ({
    organizationId: each.organization_id,
    id,
  }));
  const waits = changedWaits(before.waiting, waiting).map((id) => ({ organizationId: id, id }));
  for (const one of [...changed, ...waits])
    await recordChange(context, { ...one, projectId: null, environmentId: null, entity: 'agent' });
}

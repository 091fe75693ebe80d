/** Finds the notification endpoint that a command names. */
import type { NotificationEndpoint } from '#contract/notifications/shapes.ts';
import { findOrganization, matching, only } from '../../find/find-environment.ts';
import type { CommandSession } from '../../session/session.ts';

/** @throws BadCall unless exactly one has the id, its beginning or the exact name */
export async function findEndpoint(
  { client }: CommandSession,
  organizationId: string,
  idOrName: string,
): Promise<NotificationEndpoint> {
  const all = await client.call('listNotificationEndpoints', { query: { organizationId } });
  return only(matching(all, idOrName), 'endpoint', idOrName, ({ name }) => name);
}

/** The same, in the organization of the session. */
export async function endpointOf(session: CommandSession, idOrName: string): Promise<NotificationEndpoint> {
  return findEndpoint(session, (await findOrganization(session)).id, idOrName);
}

/** The caller. */
import type { FastifyRequest } from 'fastify';
import type { CurrentUser } from '#contract/sign-in/shapes.ts';
import type { ActorContext } from '../../framework/context.ts';
import { csrfTokenOf } from '../../framework/http/callers/cross-site.ts';
import { listOrganizationRows } from '../../rows/organizations/organization-store.ts';
import { inOrganization } from '../../rows/places.ts';
import { hasPassword } from '../../rows/sign-in/password-store.ts';
import { getUsers } from '../../rows/users/user-store.ts';
import { mayCreate } from '../../tenancy/organizations/may-create.ts';
import { userOf } from '../../tenancy/users/user-view.ts';

/** The caller, its organizations, and what identified it. */
export async function currentUser(context: ActorContext, request: FastifyRequest): Promise<CurrentUser> {
  const { db, actor } = context;
  const users = await getUsers(db, [actor.userId]);
  const rows = await listOrganizationRows(db, actor.access.organizationIds);
  const { session } = request;
  return {
    user: userOf(users, actor.userId),
    organizations: rows.map(({ id, name }) => ({ id, name, role: actor.access.roleIn(inOrganization(id)) })),
    identifiedBy: session ? 'session' : 'key',
    ...(session
      ? {
          session: {
            id: session.id,
            kind: session.kind,
            expiresAt: session.expiresAt.toISOString(),
            csrfToken: csrfTokenOf(session.secret),
          },
        }
      : {}),
    hasPassword: await hasPassword(db, actor.userId),
    mayCreateOrganizations: await mayCreate(context),
  };
}

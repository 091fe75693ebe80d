/** Users cannot grant rights that they do not have: what a role gives is compared with what its giver holds there. */
import { builtInRoles, type RoleScope } from '#contract/schema/built-in-roles.ts';
import type { Right } from '#contract/schema/enumerations.ts';
import { badField, pointerTo } from '../../ground/errors.ts';
import { isUuid } from '../../rows/entity-home.ts';
import { inOrganization, type Place } from '../../rows/places.ts';
import { permissionsOf } from '../../rows/roles/role-store.ts';
import type { ActorContext, Connection } from '../context.ts';
import type { Actor } from './actor.ts';
import { MissingRight } from './check-right.ts';
import { loadAccess } from './load-access.ts';
import { rightsOfRole } from './role-rights.ts';

/** A role that a place can have. */
export interface AssignableRole {
  /** The name of a built-in role, or the id of a custom one. */
  readonly role: string;
  /** Of a custom role. */
  readonly roleId: string | null;
  readonly rights: ReadonlySet<Right>;
}

function scopeOf({ projectId, environmentId }: Place): RoleScope {
  if (environmentId !== null) return 'environment';
  return projectId === null ? 'organization' : 'project';
}

/** Rights of a role at a place; undefined where the place cannot have it. */
export async function findRole(
  db: Connection,
  place: Place,
  role: string,
): Promise<AssignableRole | undefined> {
  const scope = scopeOf(place);
  if (Object.hasOwn(builtInRoles[scope], role))
    return { role, roleId: null, rights: rightsOfRole(scope, role, null) };
  const custom = isUuid(role) ? (await permissionsOf(db, [role])).get(role) : undefined;
  if (custom?.organizationId !== place.organizationId) return undefined;
  return { role, roleId: role, rights: rightsOfRole(scope, role, custom.permissions) };
}

const mostNamed = 5;

/**
 * @param why which part of the request gives the rights
 * @throws MissingRight 403 that names the rights which the caller does not have there itself
 */
export function requireRights(actor: Actor, place: Place, required: Iterable<Right>, why: string): void {
  const own = actor.access.rightsAt(place);
  const missing = [...required].filter((right) => !own.has(right));
  if (missing.length === 0) return;
  const named = missing.slice(0, mostNamed).join(', ');
  const others = missing.length > mostNamed ? ` and ${missing.length - mostNamed} more` : '';
  throw new MissingRight(`${why} needs all rights of the role; you lack ${named}${others}`, place);
}

/**
 * The role that a request gives a user at a place. Roles do not change until the transaction ends if the row of
 * the organization is locked.
 * @param field of the request that names the role, as `body.role`
 * @throws Refusal 400 where the place cannot have the role, 403 where it gives more than the caller has
 */
export async function requireGrantable(
  { db, actor }: Pick<ActorContext, 'db' | 'actor'>,
  place: Place,
  role: string,
  field: string,
): Promise<AssignableRole> {
  const grantedRole = await findRole(db, place, role);
  if (!grantedRole) {
    const names = Object.keys(builtInRoles[scopeOf(place)]).join(', ');
    throw badField(field, `must be one of ${names}, or the id of a custom role of the organization`);
  }
  requireRights(actor, place, grantedRole.rights, pointerTo(field));
  return grantedRole;
}

/**
 * A new secret of a key, or a key without its limits, gives all rights of the user that the key acts as.
 * @throws MissingRight 403 where that user has a right in the organization that the caller does not have
 */
export async function requireRightsOfKey(
  { db, actor }: Pick<ActorContext, 'db' | 'actor'>,
  key: { readonly user_id: string },
  organizationId: string,
): Promise<void> {
  if (actor.userId === key.user_id) return;
  const right = (await loadAccess(db, key.user_id)).rightBeyond(actor.access, organizationId);
  if (right === undefined) return;
  throw new MissingRight(
    `This key has rights that you do not have, such as ${right}`,
    inOrganization(organizationId),
  );
}

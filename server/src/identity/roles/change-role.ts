/** Makes, changes and deletes custom roles. */
import type { CreateRoleBody, UpdateRoleBody } from '#contract/roles/operations.ts';
import type { Role } from '#contract/roles/shapes.ts';
import { builtInRoles } from '#contract/schema/built-in-roles.ts';
import { type Right, rights } from '#contract/schema/enumerations.ts';
import { requireRights } from '../../framework/access/grant.ts';
import { changesOf } from '../../framework/audit/changes.ts';
import { recordAudit } from '../../framework/audit/record.ts';
import type { ActorContext, Connection } from '../../framework/context.ts';
import { isNameTaken } from '../../ground/database/is-name-taken.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { badField, conflict, orNotFound } from '../../ground/errors.ts';
import { lockOrganizationRow } from '../../rows/organizations/organization-store.ts';
import { inOrganization } from '../../rows/places.ts';
import {
  clearDefaultRole,
  defaultRoleOf,
  deleteRoleRow,
  getRoleRow,
  insertRoleRow,
  type RoleRow,
  updateRoleRow,
} from '../../rows/roles/role-store.ts';
import { describeHolders } from './describe-holders.ts';

function audited({ name, permissions, is_default: isDefaultRole }: RoleRow) {
  return { name, permissions, isDefaultRole };
}

export function roleView(row: RoleRow): Role {
  return {
    id: row.id,
    organizationId: row.organization_id,
    name: row.name,
    permissions: row.permissions,
    isDefaultRole: row.is_default,
  };
}

const known: ReadonlySet<string> = new Set(rights);

/** @throws Refusal 400 that names a right which does not exist, or which is there twice */
function readPermissions(permissions: readonly string[]): Right[] {
  for (const [index, permission] of permissions.entries()) {
    const field = `body.permissions.${index}`;
    if (!known.has(permission))
      throw badField(field, `is "${permission}", which is not a right: use ${rights.join(', ')}`);
    if (permissions.indexOf(permission) !== index) throw badField(field, `repeats ${permission}`);
  }
  return [...permissions] as Right[];
}

const builtInNames = new Set(Object.values(builtInRoles).flatMap((roles) => Object.keys(roles)));

async function requireFreeName({ db }: ActorContext, row: Pick<RoleRow, 'id' | 'organization_id' | 'name'>) {
  if (builtInNames.has(row.name))
    throw conflict(`"${row.name}" is the name of a built-in role: choose another name`);
  if (await isNameTaken(db, 'role', row))
    throw conflict(`A role named "${row.name}" already exists: choose another name`);
}

/** A role replaces the default one. @throws MissingRight 403 where that has rights that the caller does not have */
async function becomeDefault(context: ActorContext, organizationId: string, id: string): Promise<void> {
  const formerId = await defaultRoleOf(context.db, organizationId);
  const former = formerId === id ? undefined : await getRoleRow(context.db, formerId);
  if (!former) return;
  const why = `Replacing the default role "${former.name}"`;
  requireRights(context.actor, inOrganization(organizationId), former.permissions, why);
  await clearDefaultRole(context.db, organizationId, id);
}

/** The right was checked. @throws Refusal 400, 403 for rights that the caller does not have, 409 for a taken name */
export async function createRole(context: ActorContext, body: CreateRoleBody): Promise<Role> {
  const permissions = readPermissions(body.permissions);
  const { organizationId } = body;
  requireRights(context.actor, inOrganization(organizationId), permissions, '/body/permissions');
  return inTransaction(context, async (context) => {
    await lockOrganizationRow(context.db, organizationId);
    const values = {
      id: context.newId(),
      organization_id: organizationId,
      name: body.name,
      permissions,
      is_default: body.isDefaultRole ?? false,
      created_by: context.actor.userId,
    };
    await requireFreeName(context, values);
    if (values.is_default) await becomeDefault(context, organizationId, values.id);
    const row = await insertRoleRow(context.db, values);
    await recordAudit(context, {
      organizationId,
      action: 'role.created',
      entityId: row.id,
      ...changesOf(null, audited(row)),
    });
    return roleView(row);
  });
}

/** The role, locked until the transaction ends, also against assignments. @throws Refusal 404 */
export async function lockRole(db: Connection, id: string): Promise<RoleRow> {
  const found = orNotFound(await getRoleRow(db, id), 'role', id);
  await lockOrganizationRow(db, found.organization_id);
  return orNotFound(await getRoleRow(db, id), 'role', id);
}

/** The right was checked. @throws Refusal as `createRole` does */
export async function updateRole(context: ActorContext, id: string, body: UpdateRoleBody): Promise<Role> {
  const permissions = body.permissions && readPermissions(body.permissions);
  return inTransaction(context, async (context) => {
    const role = await lockRole(context.db, id);
    const { organization_id: organizationId } = role;
    const affectedRights = new Set([...role.permissions, ...(permissions ?? [])]);
    requireRights(
      context.actor,
      inOrganization(organizationId),
      affectedRights,
      `A change of the role "${role.name}"`,
    );
    if (body.name !== undefined && body.name !== role.name)
      await requireFreeName(context, { ...role, name: body.name });
    if (body.isDefaultRole) await becomeDefault(context, organizationId, id);
    const changed = await updateRoleRow(context.db, id, {
      name: body.name ?? role.name,
      permissions: permissions ?? role.permissions,
      is_default: body.isDefaultRole ?? role.is_default,
      updated_at: context.now(),
    });
    await recordAudit(context, {
      organizationId,
      action: 'role.updated',
      entityId: id,
      ...changesOf(audited(role), audited(changed)),
    });
    return roleView(changed);
  });
}

/** The right was checked. @throws Refusal 403 for rights that the caller does not have, 409 that says who has the role */
export async function deleteRole(context: ActorContext, id: string): Promise<{ id: string }> {
  return inTransaction(context, async (context) => {
    const role = await lockRole(context.db, id);
    requireRights(
      context.actor,
      inOrganization(role.organization_id),
      role.permissions,
      `Deleting the role "${role.name}"`,
    );
    const holders = await describeHolders(context.db, role);
    if (holders.length > 0)
      throw conflict(`The role "${role.name}" is in use: give another one to ${holders.join(', ')}`);
    await deleteRoleRow(context.db, id);
    await recordAudit(context, {
      organizationId: role.organization_id,
      action: 'role.deleted',
      entityId: id,
      ...changesOf(audited(role), null),
    });
    return { id };
  });
}

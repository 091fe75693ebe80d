/**
 * Loads what a user may do, and keeps it for as long as nobody changes who may do what in its organizations:
 * the database counts such changes, and the statement that identifies a caller reads the counts. A right that
 * is taken away is therefore gone with the next request, on every server.
 */
import { LruMap } from 'toad-cache';
import type { RoleScope } from '#contract/schema/built-in-roles.ts';
import type { Connection, Context } from '../context.ts';
import { membershipsOf } from '../organizations/organization-store.ts';
import { projectsBelow } from '../projects/project-store.ts';
import { perServer } from '../events/per-server.ts';
import { assignedRolesOf, type HeldRoleRow, permissionsOf } from '../roles/role-store.ts';
import { Access, type Held, type OrganizationAccess } from './access.ts';
import { isUuid } from './entity-home.ts';
import { rightsOfRole } from './role-rights.ts';

const mostKept = 10_000;

interface Kept {
  readonly versions: string;
  readonly access: Access;
}

const keptOf = perServer(() => new LruMap<Kept>(mostKept));

/**
 * What a user may do.
 * @param versions of its organizations, as the statement that identified it has read them
 */
export async function accessOf(
  context: Pick<Context, 'db' | 'events'>,
  userId: string,
  versions: string,
): Promise<Access> {
  const kept = keptOf(context);
  const found = kept.get(userId);
  if (found?.versions === versions) return found.access;
  const access = await loadAccess(context.db, userId, versions);
  kept.set(userId, { versions, access });
  return access;
}

/** The same, without what is kept. */
export async function loadAccess(db: Connection, userId: string, versions = ''): Promise<Access> {
  const [memberships, assigned] = await Promise.all([membershipsOf(db, userId), assignedRolesOf(db, userId)]);
  const custom = await permissionsOf(
    db,
    memberships.map(({ role }) => role).filter((role) => isUuid(role)),
  );
  const inProjects = assigned.filter((row) => row.project_id !== null);
  const projects = await projectsBelow(db, [...new Set(inProjects.map((row) => row.project_id as string))]);
  const organizations = memberships.map(({ organization_id: id, role }): [string, OrganizationAccess] => {
    const own = custom.get(role);
    const permissions = own === undefined ? null : own.organizationId === id ? own.permissions : [];
    const rows = assigned.filter((row) => row.organization_id === id);
    const whole = rows.filter((row) => row.project_id === null && row.environment_id === null);
    const held = [{ role, rights: rightsOfRole('organization', role, permissions) }];
    return [
      id,
      {
        ...strongest([...held, ...whole.map((row) => heldBy(row, 'organization'))]),
        projects: heldInProjects(
          rows,
          projects.filter((project) => project.organization_id === id),
        ),
        environments: heldInEnvironments(rows),
      },
    ];
  });
  return new Access(new Map(organizations), versionsIn(versions));
}

/** As `accessVersionsOf` writes them. */
function versionsIn(text: string): ReadonlyMap<string, string> {
  return new Map(text.split(',').map((each) => each.split(' ') as [id: string, version: string]));
}

function heldBy({ role, permissions }: HeldRoleRow, scope: RoleScope): Held {
  return { role, rights: rightsOfRole(scope, role, permissions) };
}

/** All rights of several roles, under the name of the one that gives most of them. */
function strongest(held: readonly Held[]): Held {
  const [first, ...others] = held.toSorted((a, b) => b.rights.size - a.rights.size);
  if (first === undefined || others.length === 0) return first ?? { role: '', rights: new Set() };
  return { role: first.role, rights: new Set(held.flatMap(({ rights }) => [...rights])) };
}

/** Projects inherit from those above them. */
function heldInProjects(
  rows: readonly HeldRoleRow[],
  projects: readonly { readonly id: string; readonly hierarchy: string }[],
): ReadonlyMap<string, Held> {
  const direct = Map.groupBy(
    rows.filter((row) => row.project_id !== null),
    (row) => row.project_id as string,
  );
  // Most projects share their roles with others: each combination is made once.
  const combined = new Map<string, Held>();
  const entries = projects.map(({ id, hierarchy }): [string, Held] => {
    const path = hierarchy.split('|').filter((step) => direct.has(step));
    const held =
      combined.get(path.join()) ??
      strongest(path.flatMap((step) => (direct.get(step) ?? []).map((row) => heldBy(row, 'project'))));
    combined.set(path.join(), held);
    return [id, held];
  });
  return new Map(entries);
}

function heldInEnvironments(rows: readonly HeldRoleRow[]): ReadonlyMap<string, Held> {
  const byEnvironment = Map.groupBy(
    rows.filter((row) => row.environment_id !== null),
    (row) => row.environment_id as string,
  );
  return new Map(
    [...byEnvironment].map(([id, each]) => [id, strongest(each.map((row) => heldBy(row, 'environment')))]),
  );
}

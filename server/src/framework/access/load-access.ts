/**
 * Loads what a user may do, and keeps it until the rights in its organizations change:
 * the database counts such changes, and the statement that identifies a caller reads the counts. A right that
 * is taken away is therefore gone with the next request, on every server.
 */
import { LruMap } from 'toad-cache';
import { projectsBelow } from '../../rows/projects/project-store.ts';
import type { Connection, Context } from '../context.ts';
import { perServer } from '../events/per-server.ts';
import { Access, type OrganizationAccess, type RoleGrant } from './access.ts';
import { type RoleInPlace, rolesHeldBy } from './held-roles.ts';

const mostKept = 10_000;

interface CachedAccess {
  readonly versions: string;
  readonly access: Access;
}

const keptOf = perServer(() => new LruMap<CachedAccess>(mostKept));

/**
 * Loads the rights of a user.
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
  const { organizationIds, roles } = await rolesHeldBy(db, userId);
  const inProjects = roles.filter(({ scope }) => scope === 'project');
  const projects = await projectsBelow(db, [...new Set(inProjects.map(({ scopeId }) => scopeId))]);
  const organizations = organizationIds.map((id): [string, OrganizationAccess] => {
    const held = Map.groupBy(
      roles.filter(({ organizationId }) => organizationId === id),
      ({ scope }) => scope,
    );
    return [
      id,
      {
        ...strongest(held.get('organization') ?? []),
        projects: heldInProjects(
          held.get('project') ?? [],
          projects.filter((project) => project.organization_id === id),
        ),
        environments: heldInEnvironments(held.get('environment') ?? []),
      },
    ];
  });
  return new Access(new Map(organizations), versionsIn(versions));
}

/** As `accessVersionsOf` writes them. */
function versionsIn(text: string): ReadonlyMap<string, string> {
  return new Map(text.split(',').map((each) => each.split(' ') as [id: string, version: string]));
}

/** All rights of several roles, under the name of the one that gives most of them. */
function strongest(held: readonly RoleGrant[]): RoleGrant {
  const [first, ...others] = held.toSorted((a, b) => b.rights.size - a.rights.size);
  if (first === undefined || others.length === 0) return first ?? { role: '', rights: new Set() };
  return { role: first.role, rights: new Set(held.flatMap(({ rights }) => [...rights])) };
}

/** Projects inherit from those above them. */
function heldInProjects(
  roles: readonly RoleInPlace[],
  projects: readonly { readonly id: string; readonly hierarchy: string }[],
): ReadonlyMap<string, RoleGrant> {
  const direct = Map.groupBy(roles, ({ scopeId }) => scopeId);
  // Most projects share their roles with others: each combination is made once.
  const combined = new Map<string, RoleGrant>();
  const entries = projects.map(({ id, hierarchy }): [string, RoleGrant] => {
    const path = hierarchy.split('|').filter((step) => direct.has(step));
    const held = combined.get(path.join()) ?? strongest(path.flatMap((step) => direct.get(step) ?? []));
    combined.set(path.join(), held);
    return [id, held];
  });
  return new Map(entries);
}

function heldInEnvironments(roles: readonly RoleInPlace[]): ReadonlyMap<string, RoleGrant> {
  const byEnvironment = Map.groupBy(roles, ({ scopeId }) => scopeId);
  return new Map([...byEnvironment].map(([id, each]) => [id, strongest(each)]));
}

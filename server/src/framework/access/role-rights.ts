/** The rights that roles give: built-in ones and custom ones. */
import { builtInRoles, type RoleScope } from '#contract/schema/built-in-roles.ts';
import { type Right, rights } from '#contract/schema/enumerations.ts';

function table(roles: Readonly<Record<string, readonly Right[]>>): ReadonlyMap<string, ReadonlySet<Right>> {
  return new Map(Object.entries(roles).map(([name, held]) => [name, new Set(held)]));
}

const tables: Record<RoleScope, ReadonlyMap<string, ReadonlySet<Right>>> = {
  organization: table(builtInRoles.organization),
  project: table(builtInRoles.project),
  environment: table(builtInRoles.environment),
};

const none: ReadonlySet<Right> = new Set();

/**
 * The rights that a role gives.
 * @param permissions of a custom role, as they are stored; null: the role is built in
 * @returns nothing for an unknown role
 */
export function rightsOfRole(
  scope: RoleScope,
  role: string,
  permissions: readonly string[] | null,
): ReadonlySet<Right> {
  if (permissions === null) return tables[scope].get(role) ?? none;
  return new Set(rights.filter((right) => permissions.includes(right)));
}

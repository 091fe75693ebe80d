/** Roles by name: those that are built in, and those of the organization. */
import { builtInRoles, type RoleScope } from '#contract/schema/built-in-roles.ts';
import type { Right } from '#contract/schema/rights.ts';
import type { Reply } from '../api/queries.ts';

export type CustomRole = Reply<'listRoles'>[number];

/** What a role is called: a built-in one has its name, a custom one its id. */
export function roleName(role: string, custom: readonly CustomRole[] = []): string {
  return custom.find(({ id }) => id === role)?.name ?? role;
}

/** The rights of a role, in the place that it is assigned in; none where it is unknown. */
export function rightsOfRole(
  role: string,
  scope: RoleScope,
  custom: readonly CustomRole[] = [],
): readonly Right[] {
  const builtIn = builtInRoles[scope] as Readonly<Record<string, readonly Right[]>>;
  return builtIn[role] ?? custom.find(({ id }) => id === role)?.permissions ?? [];
}

/** What can be chosen in a place, in groups. */
export function roleChoices(scope: RoleScope, custom: readonly CustomRole[] = []) {
  const items = Object.keys(builtInRoles[scope]).map((name) => ({ value: name, label: name }));
  return [
    { group: 'Built in', items },
    { group: 'Of this organization', items: custom.map(({ id, name }) => ({ value: id, label: name })) },
  ];
}

/** Roles by name: those that are built in, and those of the organization. */
import { builtInRoles, type RoleScope } from '#contract/schema/built-in-roles.ts';
import type { Reply } from '../api/queries.ts';

export type CustomRole = Reply<'listRoles'>[number];

/** Name of a role: a built-in one has its name, a custom one its id. */
export function roleName(role: string, custom: readonly CustomRole[] = []): string {
  return custom.find(({ id }) => id === role)?.name ?? role;
}

/** Choices at a place, in groups. */
export function roleChoices(scope: RoleScope, custom: readonly CustomRole[] = []) {
  const items = Object.keys(builtInRoles[scope]).map((name) => ({ value: name, label: name }));
  return [
    { group: 'Built in', items },
    { group: 'Of this organization', items: custom.map(({ id, name }) => ({ value: id, label: name })) },
  ];
}

/** Fields in which a person, a team or a role of the organization is chosen. */
import { Select, type SelectProps } from '@mantine/core';
import type { RoleScope } from '#contract/schema/built-in-roles.ts';
import { useRead } from '../api/queries.ts';
import { useSession } from '../api/session.ts';
import { isKey, nameOfUser } from './person.tsx';
import { roleChoices } from './roles.ts';
import { useCustomRoles } from './use-custom-roles.ts';

type ChooserField = Omit<SelectProps<string>, 'data'>;

/** A role that can be assigned in a place of this kind. */
export function RoleSelect({ scope, ...props }: ChooserField & { readonly scope: RoleScope }) {
  const { organizationId } = useSession();
  const custom = useCustomRoles(organizationId);
  return <Select allowDeselect={false} {...props} data={roleChoices(scope, custom)} />;
}

/** A member of the organization. `isPerson`: without keys. */
export function MemberSelect({ isPerson = false, ...props }: ChooserField & { readonly isPerson?: boolean }) {
  const { organizationId } = useSession();
  const members = useRead('listMembers', { params: { id: organizationId } });
  const data = (members.data ?? [])
    .filter(({ user }) => !isPerson || !isKey(user))
    .map(({ user }) => ({
      value: user.user_id ?? '',
      label: isKey(user)
        ? `${nameOfUser(user)} (API key)`
        : user.name && user.email
          ? `${user.name} (${user.email})`
          : nameOfUser(user),
    }));
  return <Select searchable nothingFoundMessage="No matching people" {...props} data={data} />;
}

/** A team of the organization. */
export function TeamSelect(props: ChooserField) {
  const { organizationId } = useSession();
  const teams = useRead('listTeams', {
    params: { organizationId },
    query: { limit: 1000, excludeFields: 'users' },
  });
  const rows = Array.isArray(teams.data) ? teams.data : (teams.data?.teams ?? []);
  const data = rows.map(({ id, name }) => ({ value: id, label: name }));
  return <Select searchable nothingFoundMessage="No matching team" {...props} data={data} />;
}

/** Users and teams with roles in a project, as rows. */
import type { RoleAssignment, TeamRoleAssignment } from '#contract/roles/shapes.ts';

export interface Assignee {
  readonly key: string;
  readonly kind: 'user' | 'team';
  readonly id: string;
  readonly name: string;
  readonly detail?: string | undefined;
  readonly role: string;
  /** Place of the role's assignment; absent: here. */
  readonly projectId?: string | undefined;
  readonly isHere: boolean;
  /** The team that gives the role to the user. */
  readonly viaTeam?: string | undefined;
}

const byName = new Intl.Collator(undefined, { numeric: true });

function userHolder(
  { userId, user, role, projectId, teamId, id }: RoleAssignment,
  teamNames: ReadonlyMap<string, string>,
  here: string,
): Assignee {
  const name = user?.name ?? user?.email ?? userId;
  return {
    key: `${id ?? ''} ${userId} ${teamId ?? ''} ${projectId ?? ''}`,
    kind: 'user',
    id: userId,
    name,
    detail: user?.email === name ? undefined : user?.email,
    ...{ role, projectId },
    isHere: projectId === here,
    viaTeam: teamId === undefined ? undefined : (teamNames.get(teamId) ?? teamId),
  };
}

/** Teams with a role here first, then users; those from here before those from further up. */
export function holdersOf(
  users: readonly RoleAssignment[],
  teams: readonly TeamRoleAssignment[],
  teamNames: ReadonlyMap<string, string>,
  here: string,
): Assignee[] {
  const ofTeams = teams.map(
    ({ id, teamId, role, projectId }): Assignee => ({
      ...{ key: id, kind: 'team', id: teamId, role, projectId },
      name: teamNames.get(teamId) ?? teamId,
      isHere: projectId === here,
    }),
  );
  const order = (one: Assignee, other: Assignee) =>
    Number(other.isHere) - Number(one.isHere) || byName.compare(one.name, other.name);
  return [
    ...ofTeams.toSorted(order),
    ...users.map((each) => userHolder(each, teamNames, here)).toSorted(order),
  ];
}

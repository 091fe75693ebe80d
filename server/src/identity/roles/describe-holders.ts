/** Holders of a custom role, and their places, for people. */
import type { Connection } from '../../framework/context.ts';
import { getEnvironmentRows } from '../../rows/environments/environment-store.ts';
import { membersWithRole } from '../../rows/organizations/member-store.ts';
import { getProjectRows } from '../../rows/projects/project-store.ts';
import { assignmentsOfRole } from '../../rows/roles/assignment-store.ts';
import type { RoleRow } from '../../rows/roles/role-store.ts';
import { getTeamRows } from '../../rows/teams/team-store.ts';
import { getUsers } from '../../rows/users/user-store.ts';

const mostNamed = 10;

function isText(text: string | null): text is string {
  return text !== null;
}

function namesOf(rows: readonly { readonly id: string; readonly name: string }[]): Map<string, string> {
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/** @returns such as `team "operators" in project "network"`; empty if the role is not assigned */
export async function describeHolders(
  db: Connection,
  { id, organization_id: organizationId }: Pick<RoleRow, 'id' | 'organization_id'>,
): Promise<string[]> {
  const members = await membersWithRole(db, organizationId, id);
  const assigned = await assignmentsOfRole(db, id);
  const named = assigned.slice(0, mostNamed);
  const [users, teams, projects, environments] = await Promise.all([
    getUsers(db, [...members.slice(0, mostNamed), ...named.map((row) => row.user_id).filter(isText)]),
    getTeamRows(db, named.map((row) => row.team_id).filter(isText)).then(namesOf),
    getProjectRows(db, named.map((row) => row.project_id).filter(isText)).then(namesOf),
    getEnvironmentRows(db, named.map((row) => row.environment_id).filter(isText)).then(namesOf),
  ]);
  const texts = [
    ...members.map((userId) => `"${users.get(userId)?.name ?? userId}" in the organization`),
    ...assigned.map((row) => {
      const holder =
        row.user_id === null
          ? `team "${teams.get(row.team_id ?? '') ?? row.team_id}"`
          : `"${users.get(row.user_id)?.name ?? row.user_id}"`;
      if (row.project_id !== null) return `${holder} in project "${projects.get(row.project_id)}"`;
      if (row.environment_id !== null)
        return `${holder} in environment "${environments.get(row.environment_id)}"`;
      return `${holder} in the organization`;
    }),
  ];
  const more = texts.length - mostNamed;
  return more > 0 ? [...texts.slice(0, mostNamed), `${more} more`] : texts;
}

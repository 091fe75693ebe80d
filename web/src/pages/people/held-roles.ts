/** Roles that reach a place as words, and as a matrix of people and places. */
import type { Reply } from '../../api/queries.ts';

export type ExplainedRole = Reply<'explainPermissions'>['roles'][number];

const scopes = { organization: 'the organization', project: 'project', environment: 'environment' } as const;

/** Such as "Deployer in project Shop, by the team Platform". */
export function heldText({ roleName, scope, scopeName, teamName }: ExplainedRole): string {
  const place = scope === 'organization' ? scopes[scope] : `${scopes[scope]} ${scopeName}`;
  return `${roleName} in ${place}${teamName === undefined ? '' : `, by the team ${teamName}`}`;
}

/** Reads that an assigned or removed role concerns. */
export const concerned = [
  'listUserRoles',
  'listTeamRoles',
  'listProjectPermissions',
  'listMembers',
  'explainPermissions',
] as const;

export interface Assignment {
  readonly userId: string;
  readonly role: string;
  readonly projectId?: string | undefined;
  readonly teamId?: string | undefined;
}

/** A role in a cell of the matrix. */
export interface CellRole {
  readonly role: string;
  /** The team that gives it; undefined: the person has it. */
  readonly teamId: string | undefined;
}

export interface MatrixRow {
  readonly userId: string;
  /** The roles by the id of the project that they are assigned in. */
  readonly cells: Readonly<Record<string, readonly CellRole[]>>;
}

/** One row for each person with a role in the project or above it, in the order in which they were listed. */
export function matrixOf(assignments: readonly Assignment[]): readonly MatrixRow[] {
  const byUser = Map.groupBy(assignments, ({ userId }) => userId);
  return [...byUser].map(([userId, own]) => ({
    userId,
    cells: Object.fromEntries(
      [...Map.groupBy(own, ({ projectId }) => projectId ?? '')].map(([projectId, roles]) => [
        projectId,
        roles.map(({ role, teamId }) => ({ role, teamId })),
      ]),
    ),
  }));
}

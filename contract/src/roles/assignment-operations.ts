/** Roles that users and teams are assigned in organizations, projects and environments. */
import { type Static, Type } from 'typebox';
import { defineOperations, operation, type Subject } from '../schema/operation.ts';
import { closed, Name, nullable, Text } from '../schema/schema.ts';
import { EffectivePermissions, RoleAssignment, TeamAssignment, TeamRoleAssignment } from './shapes.ts';

/** Scopes of roles, each with the right that assignments require. */
const places = (part: 'query' | 'body') =>
  [
    { entity: 'environment', in: part, field: 'environmentId', needs: 'ASSIGN_ROLE_ON_ENVIRONMENT' },
    { entity: 'project', in: part, field: 'projectId', needs: 'EDIT_PROJECT_SETTINGS' },
    { entity: 'organization', in: part, field: 'organizationId', needs: 'EDIT_ORGANIZATION_SETTINGS' },
  ] as const satisfies readonly Subject[];

const placeFields = {
  organizationId: Type.Optional(Name),
  projectId: Type.Optional(Name),
  environmentId: Type.Optional(Name),
};
const where =
  'Exactly one of `organizationId`, `projectId` and `environmentId` says where, and the right needed there is ' +
  'EDIT_ORGANIZATION_SETTINGS, EDIT_PROJECT_SETTINGS or ASSIGN_ROLE_ON_ENVIRONMENT. ';

const RoleText = Type.String({
  minLength: 1,
  maxLength: 255,
  description:
    'In an organization Admin, User; in a project or an environment Admin, Deployer, Planner, Viewer; or the id ' +
    'of a custom role',
});

export const AssignUserRoleBody = closed({ userId: Name, role: RoleText, ...placeFields });
export type AssignUserRoleBody = Static<typeof AssignUserRoleBody>;

export const AssignTeamRoleBody = closed({ teamId: Name, role: RoleText, ...placeFields });
export type AssignTeamRoleBody = Static<typeof AssignTeamRoleBody>;

const projectOf = { entity: 'project', in: 'params', field: 'projectId' } as const;
const byProject = Type.Object({ projectId: Name });
const byUser = Type.Object({ projectId: Name, userId: Name });
const Removed = nullable(Type.Object({ id: Text }));

const assignments = {
  listUserRoles: operation('GET', '/roles/assignments/users', {
    summary: 'List roles of users',
    description: `${where}Inherited roles and those by teams are not listed.`,
    needs: 'EDIT_PROJECT_SETTINGS',
    subject: places('query'),
    query: Type.Object(placeFields),
    reply: Type.Array(RoleAssignment),
  }),
  assignUserRole: operation('PUT', '/roles/assignments/users', {
    summary: 'Assign role to user',
    description:
      `${where}A role that the user already has there is replaced; its id remains. The caller needs all rights ` +
      'that the role gives.',
    needs: 'EDIT_PROJECT_SETTINGS',
    subject: places('body'),
    body: AssignUserRoleBody,
    reply: RoleAssignment,
  }),
  removeUserRole: operation('DELETE', '/roles/assignments/users', {
    summary: 'Remove role of user',
    description: `${where}In the organization the user is a User again. null: there was no role to remove.`,
    needs: 'EDIT_PROJECT_SETTINGS',
    subject: places('query'),
    query: Type.Object({ userId: Name, ...placeFields }),
    reply: Removed,
  }),
  listTeamRoles: operation('GET', '/roles/assignments/teams', {
    summary: 'List roles of teams',
    description: `${where}Inherited roles are not listed.`,
    needs: 'EDIT_PROJECT_SETTINGS',
    subject: places('query'),
    query: Type.Object(placeFields),
    reply: Type.Array(TeamRoleAssignment),
  }),
  assignTeamRole: operation('PUT', '/roles/assignments/teams', {
    summary: 'Assign role to team',
    description:
      `${where}A role that the team already has there is replaced; its id remains. The caller needs all rights ` +
      'that the role gives.',
    needs: 'EDIT_PROJECT_SETTINGS',
    subject: places('body'),
    body: AssignTeamRoleBody,
    reply: TeamRoleAssignment,
  }),
  removeTeamRole: operation('DELETE', '/roles/assignments/teams', {
    summary: 'Remove role of team',
    description: `${where}null: there was no role to remove.`,
    needs: 'EDIT_PROJECT_SETTINGS',
    subject: places('query'),
    query: Type.Object({ teamId: Name, ...placeFields }),
    reply: Removed,
  }),
};

const permissions = {
  explainPermissions: operation('GET', '/permissions/effective', {
    summary: 'Explain permissions',
    description:
      'What a user may do in a place, and which roles give each right there: its own and those of its teams, ' +
      'assigned there or above. Exactly one of `organizationId`, `projectId` and `environmentId` says where. ' +
      'Everybody may ask about oneself in the own organizations.',
    needs: 'signed-in',
    needsToo: [
      { right: 'EDIT_ORGANIZATION_SETTINGS', for: 'another `userId` in an organization' },
      { right: 'EDIT_PROJECT_SETTINGS', for: 'another `userId` in a project' },
      { right: 'ASSIGN_ROLE_ON_ENVIRONMENT', for: 'another `userId` in an environment' },
    ],
    query: Type.Object({
      ...placeFields,
      userId: Type.Optional(
        Type.String({ minLength: 1, description: 'Person or API key; default: the caller' }),
      ),
    }),
    reply: EffectivePermissions,
  }),
  listProjectPermissions: operation('GET', '/permissions/projects/{projectId}', {
    summary: "Get the user's role assignments in a project",
    description:
      "Everybody's, also those that a team gives (`teamId`), for a caller with the right EDIT_PROJECT_SETTINGS " +
      "there; otherwise the caller's own.",
    needs: 'VIEW_PROJECT',
    needsToo: [{ right: 'EDIT_PROJECT_SETTINGS', for: "everybody's roles" }],
    subject: projectOf,
    params: byProject,
    query: Type.Object({
      includeInherited: Type.Optional(
        Type.Boolean({ description: 'Also those of the projects above; default false' }),
      ),
    }),
    reply: Type.Array(RoleAssignment),
    inInterface: true,
  }),
  addProjectPermission: operation('POST', '/permissions/projects/{projectId}', {
    summary: 'Assign role in project',
    description: 'A role that the user already has there is replaced; its id remains.',
    needs: 'EDIT_PROJECT_SETTINGS',
    subject: projectOf,
    params: byProject,
    body: closed({ userId: Name, role: RoleText }),
    reply: RoleAssignment,
  }),
  updateProjectPermission: operation('PUT', '/permissions/projects/{projectId}/users/{userId}', {
    summary: 'Change role in project',
    needs: 'EDIT_PROJECT_SETTINGS',
    subject: projectOf,
    params: byUser,
    body: closed({ role: RoleText }),
    reply: RoleAssignment,
  }),
  removeProjectPermission: operation('DELETE', '/permissions/projects/{projectId}/users/{userId}', {
    summary: 'Remove role in project',
    needs: 'EDIT_PROJECT_SETTINGS',
    subject: projectOf,
    params: byUser,
    reply: Type.Object({ id: Text }),
  }),
};

const older = 'An older form of the operations on `/roles/assignments/teams`. ';

const teamAssignments = {
  listTeamAssignments: operation('GET', '/teams/assignments', {
    summary: 'List roles of teams in project',
    description: older,
    needs: 'EDIT_PROJECT_SETTINGS',
    subject: { entity: 'project', in: 'query', field: 'projectId' },
    query: Type.Object({ projectId: Text }),
    reply: Type.Array(TeamAssignment),
  }),
  addTeamAssignment: operation('POST', '/teams/assignments', {
    summary: 'Assign role to team in project',
    description: `${older}Without a project, the role is assigned in the organization.`,
    needs: 'EDIT_PROJECT_SETTINGS',
    subject: [
      { entity: 'project', in: 'body', field: 'projectId' },
      { entity: 'team', in: 'body', field: 'teamId', needs: 'EDIT_ORGANIZATION_SETTINGS' },
    ],
    body: closed({ teamId: Name, projectId: Type.Optional(Name), projectRole: RoleText }),
    reply: TeamAssignment,
  }),
  setTeamAssignments: operation('PUT', '/teams/assignments', {
    summary: 'Replace roles of teams in project',
    description: `${older}Teams that are not named lose their role there; the others keep the id of theirs.`,
    needs: 'EDIT_PROJECT_SETTINGS',
    subject: places('body').slice(1),
    body: closed({
      projectId: Type.Optional(Name),
      organizationId: Type.Optional(Name),
      assignments: Type.Array(closed({ teamId: Name, projectRole: RoleText }), { maxItems: 1000 }),
    }),
    reply: Type.Array(TeamAssignment),
  }),
  removeTeamAssignment: operation('DELETE', '/teams/assignments/{assignmentId}', {
    summary: 'Remove role of team',
    description: `${older}In the organization, the right EDIT_ORGANIZATION_SETTINGS is needed.`,
    needs: 'EDIT_PROJECT_SETTINGS',
    needsToo: [{ right: 'EDIT_ORGANIZATION_SETTINGS', for: 'a role in the organization' }],
    subject: { entity: 'teamAssignment', in: 'params', field: 'assignmentId' },
    params: Type.Object({ assignmentId: Name }),
    reply: Type.Object({ id: Text }),
  }),
};

export const operations = defineOperations('role assignments', {
  ...assignments,
  ...permissions,
  ...teamAssignments,
});

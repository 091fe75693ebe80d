/** Teams of people and keys. */
import { type Static, Type } from 'typebox';
import { aboutOne } from '../schema/by-id.ts';
import { clearable } from '../schema/empty-fields.ts';
import { defineOperations, operation } from '../schema/operation.ts';
import { closed, Flag, Name, orNull, Prose, Text, Title } from '../schema/schema.ts';
import { Team, TeamList } from './shapes.ts';

export const CreateTeamBody = closed({
  organizationId: Name,
  name: Title,
  description: orNull(Prose),
  isDefaultTeam: Type.Optional(Flag),
});
export type CreateTeamBody = Static<typeof CreateTeamBody>;

export const UpdateTeamBody = closed({
  name: Type.Optional(Title),
  description: Type.Optional(clearable(Prose, '')),
  userIds: Type.Optional(
    clearable(
      Type.Array(Name, {
        maxItems: 10_000,
        description: 'Replaces the members: people and keys of the organization; absent: unchanged',
      }),
      [],
    ),
  ),
  isDefaultTeam: Type.Optional(clearable(Flag, false)),
});
export type UpdateTeamBody = Static<typeof UpdateTeamBody>;

/** Most teams of a page. */
export const mostTeams = 1000;
export const usualTeams = 50;

const ListTeamsQuery = Type.Object({
  name: Type.Optional(Type.String({ description: 'What the names begin with' })),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: mostTeams, description: `Page size; default ${usualTeams}` }),
  ),
  offset: Type.Optional(
    Type.String({ description: 'The nextPageKey of the previous page; absent: the first page' }),
  ),
  assignedToOrganizationId: Type.Optional(
    Type.String({ description: 'Only teams with a role in this organization as a whole' }),
  ),
  assignedToProjectId: Type.Optional(
    Type.String({ description: 'Only teams with a role in this project, inherited ones included' }),
  ),
  assignedToEnvironmentId: Type.Optional(
    Type.String({ description: 'Only teams with a role in this environment, inherited ones included' }),
  ),
  excludeFields: Type.Optional(
    Type.String({ description: 'Comma-separated field paths to omit; `users` makes the list much faster' }),
  ),
});
export type ListTeamsQuery = Static<typeof ListTeamsQuery>;

const thisTeam = aboutOne('team');

export const operations = defineOperations('teams', {
  listTeams: operation('GET', '/teams/organizations/{organizationId}', {
    summary: 'List teams',
    description:
      'Newest first. The reply is an array, and the key of the next page is in the headers `Link` and ' +
      '`x-next-page-key`; or, as the setting `ENVARIUM_TEAMS_LIST_FORM` says, an object {teams, nextPageKey}. ' +
      'The header `x-total-count` has the number of teams on all pages.',
    needs: 'VIEW_ORGANIZATION',
    subject: { entity: 'organization', in: 'params', field: 'organizationId' },
    params: Type.Object({ organizationId: Name }),
    query: ListTeamsQuery,
    reply: TeamList,
    projectedBy: ['excludeFields'],
    inInterface: true,
  }),
  createTeam: operation('POST', '/teams', {
    summary: 'Create team',
    description: 'It has no members yet.',
    needs: 'EDIT_ORGANIZATION_SETTINGS',
    subject: { entity: 'organization', in: 'body', field: 'organizationId' },
    body: CreateTeamBody,
    reply: Team,
  }),
  getTeam: operation('GET', '/teams/{id}', {
    summary: 'Get team',
    needs: 'VIEW_ORGANIZATION',
    ...thisTeam,
    reply: Team,
  }),
  updateTeam: operation('PUT', '/teams/{id}', {
    summary: 'Update team',
    description:
      'Omitted fields are unchanged. A caller who adds members, or makes the team the default one, needs all ' +
      'rights that the team gives.',
    needs: 'EDIT_ORGANIZATION_SETTINGS',
    ...thisTeam,
    body: UpdateTeamBody,
    reply: Team,
  }),
  deleteTeam: operation('DELETE', '/teams/{id}', {
    summary: 'Delete team',
    description: 'With its memberships and roles.',
    needs: 'EDIT_ORGANIZATION_SETTINGS',
    ...thisTeam,
    reply: Type.Object({ id: Text }),
  }),
});

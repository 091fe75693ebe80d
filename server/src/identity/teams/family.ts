/** Teams of people and keys. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { operations } from '#contract/operations.ts';
import type { Family } from '../../framework/family.ts';
import { type Route, route } from '../../framework/http/route.ts';
import type { ServerSettings } from '../../ground/config/config.ts';
import { orNotFound } from '../../ground/errors.ts';
import { getTeamRow, teamHome } from '../../rows/teams/team-store.ts';
import { createTeam, deleteTeam, lockTeam, updateTeam } from './change-team.ts';
import { listTeams } from './list-teams.ts';
import { teamView } from './team-view.ts';

/** User agents of Terraform providers, after the versions of their libraries. */
const terraformProvider = /terraform-provider-/i;

function isObjectForm(form: ServerSettings['teamsListForm'], { headers }: FastifyRequest): boolean {
  return form === 'auto' ? terraformProvider.test(headers['user-agent'] ?? '') : form === 'object';
}

/** The key of the next page, and its address relative to this one. */
function linkToNext(request: FastifyRequest, reply: FastifyReply, key: string): void {
  const [path = '', query = ''] = request.url.split('?');
  const parameters = new URLSearchParams(query);
  parameters.set('offset', key);
  reply.header('x-next-page-key', key);
  reply.header('link', `<${path}?${parameters.toString()}>; rel="next"`);
}

const teamRoutes: Route[] = [
  route(operations.listTeams, async (context, { params, query }, { request, reply }) => {
    const { teams, total, nextPageKey } = await listTeams(context, params.organizationId, query);
    reply.header('x-total-count', String(total));
    if (nextPageKey !== undefined) linkToNext(request, reply, nextPageKey);
    const isObject = isObjectForm(context.settings.teamsListForm, request);
    return isObject ? { teams, ...(nextPageKey === undefined ? {} : { nextPageKey }) } : teams;
  }),
  route(operations.createTeam, (context, { body }) => createTeam(context, body)),
  route(operations.getTeam, async (context, { params }) =>
    teamView(context.db, orNotFound(await getTeamRow(context.db, params.id), 'team', params.id)),
  ),
  route(operations.updateTeam, (context, { params, body }) => updateTeam(context, params.id, body)),
  route(operations.deleteTeam, (context, { params }) => deleteTeam(context, params.id)),
];

export const family: Family = {
  name: 'teams',
  routes: teamRoutes,
  entities: { team: teamHome },
  locks: { team: lockTeam },
  tables: ['team', 'team_member'],
};

/** The list of 1,000 teams in one page, without and with their members, one request after another. */
import { connectTo } from '../measure/database.ts';
import { type Bench, type BenchResult, figure } from '../measure/figure.ts';
import { putLoad } from '../measure/load.ts';
import { scratchFolder, startService } from '../measure/service.ts';

const counts = { teams: 1000, membersEach: 10, users: 500 };

/** Users, all members of the organization; and teams, each with some of them and a role in a project. */
const statements: readonly string[] = [
  `insert into app_user (id, name, email)
    select 'user-' || n, 'User ' || n, 'user-' || n || '@example.com' from generate_series(1, ${counts.users}) n`,
  `insert into organization_member (organization_id, user_id, role)
    select organization.id, 'user-' || n, 'User' from organization, generate_series(1, ${counts.users}) n`,
  `insert into team (id, organization_id, name, description, created_by)
    select uuidv7(), organization.id, 'team ' || n, 'Operates part ' || n || ' of everything', 'user-1'
    from organization, generate_series(1, ${counts.teams}) n`,
  `insert into team_member (team_id, user_id)
    select id, 'user-' || (1 + (number * 37 + step * 41) % ${counts.users})
    from (select id, row_number() over (order by id) as number from team) numbered,
      generate_series(1, ${counts.membersEach}) step`,
  `insert into role_assignment (id, organization_id, team_id, project_id, role, created_by)
    select uuidv7(), team.organization_id, team.id, project.id, 'Viewer', 'user-1'
    from team join project on project.organization_id = team.organization_id`,
  'analyze',
];

export const teamsBench: Bench = async ({ isQuick }): Promise<BenchResult> => {
  await using folder = await scratchFolder();
  await using service = await startService(folder);
  await using database = await connectTo(service);
  for (const statement of statements) await database.pool.query(statement);
  const [organization] = await service.client.call('listOrganizations');
  const [project] = await service.client.call('listProjects');
  const headers = {
    authorization: `Basic ${Buffer.from(`${service.key}:${service.secret}`).toString('base64')}`,
  };
  const questions: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    'without members': { excludeFields: 'users' },
    'without members, assigned to a project': {
      excludeFields: 'users',
      assignedToProjectId: project?.id ?? '',
    },
    'with members': {},
  };
  const measure = (query: Readonly<Record<string, string>>, milliseconds: number) => {
    const parameters = new URLSearchParams({ limit: String(counts.teams), ...query });
    const url = `${service.url}/api/teams/organizations/${organization?.id ?? ''}?${parameters}`;
    return putLoad({ url, headers, connections: 1, milliseconds });
  };
  const figures = [];
  for (const [name, query] of Object.entries(questions)) {
    await measure(query, 500);
    const { latencies } = await measure(query, isQuick ? 500 : 3000);
    figures.push(figure(name, 'ms', latencies));
  }
  return { figures, settings: { ...counts, limit: counts.teams, connections: 1 } };
};

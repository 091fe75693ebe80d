/** Agents of projects: listed, assigned, and the default one. */
import type { Command } from 'commander';
import type { ProjectAgents } from '#contract/agents/shapes.ts';
import { onCall } from '../../call/command-line.ts';
import { findOrganization, findProject, listAgents } from '../../find/find-environment.ts';
import { BadCall } from '../../session/exit-codes.ts';
import type { CommandSession } from '../../session/session.ts';
import { plain } from '../../terminal/safe-text.ts';
import type { TableColumn } from '../../terminal/table.ts';
import { agentKeyOf } from './show-agent.ts';

interface AssignedProject {
  readonly project: string;
  readonly agent: string;
  readonly from: string;
}

const columns: TableColumn<AssignedProject>[] = [
  { head: 'PROJECT', value: ({ project }) => project },
  { head: 'AGENT', value: ({ agent }) => agent },
  { head: 'AS', value: ({ from }) => from, isExtra: true },
];

/** Rows with names, which are easier to read than keys and ids. */
async function namedRows(
  { client }: CommandSession,
  organizationId: string,
  { defaultAgent, projectsAgents, inheritedFrom, isDefaultChosen }: ProjectAgents,
): Promise<AssignedProject[]> {
  const [agents, projects] = await Promise.all([
    listAgents(client, organizationId),
    client.call('listProjects', { query: { organizationId } }),
  ]);
  const agentName = (key: string) =>
    agents.find(({ agentKey, id }) => agentKey === key || id === key)?.name ?? key;
  const projectName = (id: string) => projects.find((each) => each.id === id)?.name ?? id;
  const rows = Object.entries(projectsAgents).map(([id, key]) => ({
    project: projectName(id),
    agent: agentName(key),
    from: inheritedFrom[id] === undefined ? '' : projectName(inheritedFrom[id]),
  }));
  const others = isDefaultChosen ? agentName(defaultAgent) : 'agents without projects';
  return [...rows, { project: 'all others', agent: others, from: '' }];
}

async function projectIdsOf(
  { client }: CommandSession,
  organizationId: string,
  idsOrNames: readonly string[],
): Promise<string[]> {
  const found = await Promise.all(
    idsOrNames.map((each) => findProject(client, organizationId, each, { withArchived: true })),
  );
  return found.map(({ id }) => id);
}

/** The argument for the service: a name that ends in _DEFAULT stands for the default agent. */
function agentOf(session: CommandSession, idOrName: string): string | Promise<string> {
  return idOrName.endsWith('_DEFAULT') ? idOrName : agentKeyOf(session, idOrName);
}

function addAssigning(group: Command): void {
  onCall(
    group
      .command('assign <agent> <project...>')
      .description(
        'only this agent runs the deployments of these projects and those below; X_DEFAULT: the default agent',
      ),
    async ({ session, words: [idOrName = '', ...projects] }) => {
      const { id: organizationId } = await findOrganization(session);
      const agent = await agentOf(session, idOrName);
      const ids = await projectIdsOf(session, organizationId, projects);
      const reply = await session.client.call('assignProjectAgents', {
        query: { organizationId },
        body: Object.fromEntries(ids.map((id) => [id, agent])),
      });
      return session.answer(reply, `Agent ${plain(idOrName)} runs the next jobs of these projects`);
    },
  );
  onCall(
    group
      .command('unassign <project...>')
      .description('projects have the agent of the project above again, or the default agent'),
    async ({ session, words: projects }) => {
      const { id: organizationId } = await findOrganization(session);
      const ids = await projectIdsOf(session, organizationId, projects);
      const reply = await session.client.call('assignProjectAgents', {
        query: { organizationId },
        body: Object.fromEntries(ids.map((id) => [id, null])),
      });
      return session.answer(reply, 'The projects have no agents of their own');
    },
  );
}

export function addAgentProjects(group: Command): void {
  onCall(
    group.command('assignments').description('list which agents run the deployments of which projects'),
    async ({ session }) => {
      const { id: organizationId } = await findOrganization(session);
      const reply = await session.client.call('listProjectAgents', { query: { organizationId } });
      if (session.isJson) return session.output.json(reply);
      return session.output.table(await namedRows(session, organizationId, reply), columns, '');
    },
  );
  addAssigning(group);
  const choose = group
    .command('default [agent]')
    .description('choose the agent that runs the deployments of projects without an agent')
    .option('--none', 'every agent without projects runs them');
  onCall<{ none?: boolean }>(choose, async ({ session, args: [idOrName], options }) => {
    if ((idOrName === undefined) !== (options.none === true))
      throw new BadCall('Specify either an agent or --none.');
    const { id: organizationId } = await findOrganization(session);
    const agent = idOrName === undefined ? null : await agentKeyOf(session, idOrName);
    const reply = await session.client.call('setDefaultAgent', {
      query: { organizationId },
      body: { agent },
    });
    return session.answer(
      reply,
      agent === null ? 'No default agent is chosen' : `Agent ${plain(idOrName ?? '')} is the default agent`,
    );
  });
}

/** `agent`: agents and their secrets. */
import type { Command } from 'commander';
import type { Agent, AgentSecretEntry } from '#contract/agents/shapes.ts';
import { onCall } from '../../call/command-line.ts';
import { isolationOf } from '../../doctor/agent-isolation.ts';
import { findAgent, findOrganization, listAgents } from '../../find/find-environment.ts';
import { timeText } from '../../terminal/durations.ts';
import { plain } from '../../terminal/safe-text.ts';
import type { TableColumn } from '../../terminal/table.ts';
import { expiryOf } from '../access/find-access.ts';
import { addAgentProjects } from './agent-projects.ts';
import { addAgentShowing, agentKeyOf } from './show-agent.ts';

const agentColumns: TableColumn<Agent>[] = [
  { head: 'NAME', value: ({ name, agentKey }) => name ?? agentKey },
  { head: 'STATUS', value: ({ status }) => status, isWhole: true },
  { head: 'VERSION', value: ({ version }) => version, isExtra: true },
  { head: 'ISOLATION', value: isolationOf, isExtra: true },
  { head: 'KEY', value: ({ agentKey }) => agentKey, isWhole: true },
];

const secretColumns: TableColumn<AgentSecretEntry>[] = [
  { head: 'DESCRIPTION', value: ({ description }) => description },
  { head: 'BY', value: ({ createdBy }) => createdBy.name, isExtra: true },
  { head: 'CREATED', value: ({ createdAt }) => timeText(createdAt), isExtra: true },
  { head: 'LAST USED', value: ({ lastUsedAt }) => (lastUsedAt ? timeText(lastUsedAt) : 'never') },
  { head: 'EXPIRES', value: ({ expiresAt }) => (expiresAt ? timeText(expiresAt) : 'never') },
  { head: 'ID', value: ({ id }) => id, isWhole: true },
];

interface SecretOptions {
  readonly description?: string;
  readonly expires?: string;
}

interface ForceFlags {
  readonly force?: boolean;
}

function addAgentRemoval(group: Command): void {
  const remove = group
    .command('delete <agent>')
    .description('delete an agent (its key, id or name) with its secrets')
    .option('--force', 'even while it has runs, which will count as lost');
  onCall<ForceFlags>(remove, async ({ session, args: [idOrName = ''], options }) => {
    const { client, organizationId } = session;
    const { agentKey, name } = await findAgent(client, organizationId, idOrName);
    const deleted = await client.call('deleteAgent', {
      params: { agentKey },
      query: { force: options.force },
    });
    return session.answer(deleted, `Agent ${plain(name ?? agentKey)} was deleted`);
  });
  onCall(
    group.command('secrets <agent>').description('list the secrets of an agent, without their values'),
    async ({ session, args: [idOrName = ''] }) => {
      const params = { agentKey: await agentKeyOf(session, idOrName) };
      const all = await session.client.call('listAgentSecrets', { params });
      return session.list(all, secretColumns, 'No secrets.');
    },
  );
  const revoke = group
    .command('delete-secret <agent> <secret>')
    .description('delete a secret of an agent: its id')
    .option('--force', 'even if it is the last one and the agent has runs, which will count as lost');
  onCall<ForceFlags>(revoke, async ({ session, args: [idOrName = '', secretId = ''], options }) => {
    const agentKey = await agentKeyOf(session, idOrName);
    const deleted = await session.client.call('deleteAgentSecret', {
      params: { agentKey, secretId },
      query: { force: options.force },
    });
    return session.answer(deleted, `Secret ${plain(secretId)} was deleted`);
  });
}

export function addAgentCommands(program: Command): void {
  const group = program.command('agent').description('agents, which run deployments');
  onCall(
    group.command('list').description('list agents'),
    async ({ session: { client, output, isJson, organizationId } }) => {
      if (isJson) return output.json(await client.call('listAgents', { query: { organizationId } }));
      return output.table(await listAgents(client, organizationId), agentColumns, 'No agents.');
    },
  );
  const create = group
    .command('create <name>')
    .description('create an agent that runs deployments of this organization only')
    .option('--description <text>', 'what it is for');
  onCall<{ description?: string }>(create, async ({ session, args: [name = ''], options }) => {
    const { id: organizationId } = await findOrganization(session);
    const { description } = options;
    const made = await session.client.call('createAgent', { body: { organizationId, name, description } });
    return session.answer(made, () => made.agentKey);
  });
  const secret = group
    .command('secret <agent>')
    .description('create another secret for an agent (its key, id or name); it is shown only once')
    .option('--description <text>', 'where it is used')
    .option(
      '--expires <lifetime>',
      'when it ends: 30d, 8w, a time such as 2027-01-31, or infinite, the default',
    );
  onCall<SecretOptions>(secret, async ({ session, args: [idOrName = ''], options }) => {
    const made = await session.client.call('createAgentSecret', {
      params: { agentKey: await agentKeyOf(session, idOrName) },
      body: { description: options.description, expiresAt: expiryOf('--expires', options.expires) },
    });
    return session.answer(made, () => made.secret);
  });
  addAgentShowing(group);
  addAgentProjects(group);
  addAgentRemoval(group);
}

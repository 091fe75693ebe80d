/** One agent: shown, changed, and its settings for those who start it. */
import type { Command } from 'commander';
import type { Agent } from '#contract/agents/shapes.ts';
import { onCall } from '../../call/command-line.ts';
import { isolationText } from '../../doctor/agent-isolation.ts';
import { findAgent } from '../../find/find-environment.ts';
import type { CommandSession } from '../../session/session.ts';
import { timeText } from '../../terminal/durations.ts';
import { plain } from '../../terminal/safe-text.ts';

interface AgentChanges {
  readonly name?: string;
  readonly description?: string;
}

/** The key of an agent. @param idOrName its key, id or name, or any name of the default agent */
export async function agentKeyOf(
  { client, organizationId }: Pick<CommandSession, 'client' | 'organizationId'>,
  idOrName: string,
): Promise<string> {
  return (await findAgent(client, organizationId, idOrName)).agentKey;
}

function processTexts({ processes = [] }: Agent): string {
  const texts = processes.map(({ hostname = 'a machine', version, isolation }) =>
    plain(`${hostname} (${version}, isolation: ${isolationText(isolation)})`),
  );
  return texts.join('\n') || 'none';
}

/** `1 of 2 slots in use, 3 jobs wait` */
function loadOf({ health }: Agent): string | undefined {
  return health && `${health.running} of ${health.slots} slots in use, ${health.queued} jobs wait`;
}

function problemTexts({ health }: Agent): string {
  return (health?.problems ?? []).map(plain).join('\n') || 'none';
}

function addShow(group: Command): void {
  onCall(
    group.command('show <agent>').description('show an agent: its key, id or name'),
    async ({ session, args: [idOrName = ''] }) => {
      const agentKey = await agentKeyOf(session, idOrName);
      const agent = await session.client.call('getAgent', { params: { agentKey } });
      if (session.isJson) return session.output.json(agent);
      return session.output.fields([
        ['Name', agent.name],
        ['Key', agentKey],
        ['Id', agent.id],
        ['Status', agent.status],
        ['Description', agent.description],
        ['Runs deployments of', agent.isSaas ? 'all organizations' : 'its organization'],
        ['Version', agent.version],
        ['Last contact', agent.lastContactAt && timeText(agent.lastContactAt)],
        ['Load', loadOf(agent)],
        ['Problems', problemTexts(agent)],
        ['Processes', processTexts(agent)],
        ['Created by', agent.createdByUser?.name],
      ]);
    },
  );
}

function addUpdate(group: Command): void {
  const update = group
    .command('update <agent>')
    .description('change an agent (its key, id or name); omitted options are unchanged')
    .option('--name <name>', 'its new name')
    .option('--description <text>', 'what it is for; an empty text removes it');
  onCall<AgentChanges>(update, async ({ session, args: [idOrName = ''], options }) => {
    const agentKey = await agentKeyOf(session, idOrName);
    const { name, description } = options;
    const body = { name, description };
    const agent = await session.client.call('updateAgent', { params: { agentKey }, body });
    return session.answer(agent, () => `Agent ${plain(agent.name ?? agentKey)} was updated`);
  });
}

function addFiles(group: Command): void {
  onCall(
    group.command('values <agent>').description('print Helm values of an agent, without its secret'),
    async ({ session, args: [idOrName = ''] }) => {
      const params = { agentKey: await agentKeyOf(session, idOrName) };
      const values = new TextDecoder().decode(await session.client.bytes('getAgentValues', { params }));
      return session.answer({ values }, values.trimEnd());
    },
  );
  onCall(
    group
      .command('dotenv <agent>')
      .description('print the settings of an agent as an environment file, without its secret'),
    async ({ session, args: [idOrName = ''] }) => {
      const params = { agentKey: await agentKeyOf(session, idOrName) };
      const dotenv = new TextDecoder().decode(await session.client.bytes('getAgentDotenv', { params }));
      return session.answer({ dotenv }, dotenv.trimEnd());
    },
  );
}

export function addAgentShowing(group: Command): void {
  addShow(group);
  addUpdate(group);
  addFiles(group);
}

/** Deletes agents, which leaves no runs behind unless the caller accepts that. */
import { changesOf } from '../../framework/audit/changes.ts';
import { recordAudit } from '../../framework/audit/record.ts';
import type { ActorContext, Connection } from '../../framework/context.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { conflict, orNotFound, Refusal } from '../../ground/errors.ts';
import { type AgentRow, findAgent, setAgentDeleted } from '../../rows/agents/agent-store.ts';
import { lockProcesses, signOffProcesses } from '../../rows/agents/process-store.ts';
import { isChosenDefault, listProjectsOfAgent } from '../../rows/agents/project-agent-store.ts';
import { countOpenAttempts } from '../../rows/dispatch/attempt-store.ts';
import { lockOrganizationRow } from '../../rows/organizations/organization-store.ts';
import { isOperator } from '../../rows/users/user-store.ts';

/** @throws Refusal 403 for callers other than the operator, where all organizations share the agent */
async function requireOperatorIfShared({ db, actor }: ActorContext, agent: AgentRow): Promise<void> {
  if (!agent.is_shared || (await isOperator(db, actor.userId))) return;
  throw new Refusal(
    'forbidden',
    `The agent ${agent.agent_key} runs deployments of all organizations: only the operator, who has the first key of the installation, can manage it and its secrets`,
  );
}

/** The agent, which the caller may manage. @param keyOrId as in the path @throws Refusal 403 or 404 */
export async function requireManagedAgent(context: ActorContext, keyOrId: string): Promise<AgentRow> {
  const agent = orNotFound(await findAgent(context.db, keyOrId), 'agent', keyOrId);
  await requireOperatorIfShared(context, agent);
  return agent;
}

const mostNames = 5;

/**
 * No project gets the agent until the transaction ends.
 * @throws Refusal 409 while projects have it: their deployments would go to another agent, or wait forever
 */
async function requireUnassigned(tx: Connection, agent: AgentRow): Promise<void> {
  await lockOrganizationRow(tx, agent.organization_id);
  const names = await listProjectsOfAgent(tx, agent.agent_key, mostNames + 1);
  const more = names.length > mostNames ? ' and others' : '';
  const projects = names
    .slice(0, mostNames)
    .map((name) => `"${name}"`)
    .join(', ');
  if (names.length > 0)
    throw conflict(
      `The agent ${agent.agent_key} runs the deployments of ${projects}${more}: assign other agents to these projects first`,
    );
  if (await isChosenDefault(tx, agent.agent_key))
    throw conflict(
      `The agent ${agent.agent_key} is the default agent of the organization: choose another one first`,
    );
}

/** No attempt begins until the transaction ends. @throws Refusal 409 while the agent has runs */
export async function requireIdle(tx: Connection, agentKey: string): Promise<void> {
  const runs = await countOpenAttempts(tx, await lockProcesses(tx, agentKey));
  if (runs > 0)
    throw conflict(
      `The agent ${agentKey} has ${runs} ${runs === 1 ? 'run' : 'runs'}, which could not report any more: ` +
        'wait until they have ended, or repeat the call with force=true',
    );
}

/**
 * Deletes an agent with its secrets: its processes are refused from their next call on.
 * @param isForced also while it has runs: they count as lost when they have been silent for long enough
 * @throws Refusal 403, 404, or 409 for the shared agent and for one that has projects or runs
 */
export async function deleteAgent(
  context: ActorContext,
  keyOrId: string,
  isForced: boolean,
): Promise<{ id: string }> {
  return inTransaction(context, async (context) => {
    const agent = await requireManagedAgent(context, keyOrId);
    if (agent.is_default)
      throw conflict(
        `The agent ${agent.agent_key} belongs to the installation and cannot be deleted: start the service with ENVARIUM_BUILT_IN_AGENT=false to do without it`,
      );
    await requireUnassigned(context.db, agent);
    if (!isForced) await requireIdle(context.db, agent.agent_key);
    await signOffProcesses(context.db, agent.agent_key);
    await setAgentDeleted(context.db, agent.agent_key, context.now());
    await recordAudit(context, {
      organizationId: agent.organization_id,
      action: 'agent.deleted',
      entityId: agent.id,
      details: { name: agent.name, agentKey: agent.agent_key, isForced },
      ...changesOf({ name: agent.name, description: agent.description }, null),
    });
    return { id: agent.id };
  });
}

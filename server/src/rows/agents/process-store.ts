/** SQL of agent processes: each works under an agent's key and holds one spool. */
import { type Insertable, type Selectable, sql } from 'kysely';
import type { StoredCondition } from '#protocol/messages/agent.ts';
import type { Connection } from '../../framework/context.ts';
import { statement } from '../../ground/database/prepared.ts';
import { rowById } from '../row-queries.ts';
import type { AgentProcessTable } from '../schema.ts';
import { agentOfProject, takesOthers } from './project-agent-store.ts';

export type AgentProcessRow = Selectable<AgentProcessTable>;

export const getAgentProcess = rowById('agent_process');

/**
 * The process that now holds a spool, under a new epoch if the spool is known.
 * @returns undefined where the spool belongs to another agent key
 */
export async function upsertAgentProcess(
  tx: Connection,
  { id, spool_id, ...columns }: Insertable<AgentProcessTable>,
): Promise<Pick<AgentProcessRow, 'id' | 'epoch' | 'registered_at'> | undefined> {
  return tx
    .insertInto('agent_process')
    .values({ id, spool_id, ...columns })
    .onConflict((conflict) =>
      conflict
        .column('spool_id')
        .doUpdateSet({ ...columns, epoch: sql`agent_process.epoch + 1` })
        .where('agent_process.agent_key', '=', columns.agent_key),
    )
    .returning(['id', 'epoch', 'registered_at'])
    .executeTakeFirst();
}

/** @param condition of the machine; absent: the message says nothing of it */
export async function storeContact(
  tx: Connection,
  id: string,
  {
    at,
    isGoodbye,
    condition,
  }: {
    readonly at: Date;
    /** The process reports that it is about to end. */
    readonly isGoodbye: boolean;
    readonly condition?: StoredCondition;
  },
): Promise<void> {
  await tx
    .updateTable('agent_process')
    .set({
      contact_at: at,
      said_goodbye: isGoodbye,
      ...(condition ? { condition: JSON.stringify(condition) } : {}),
    })
    .where('id', '=', id)
    .execute();
}

/** Contacts later than a time, of a clock that was set back since, count as being of that time. */
export async function endFutureContacts(db: Connection, now: Date, after: Date): Promise<void> {
  await db.updateTable('agent_process').set({ contact_at: now }).where('contact_at', '>', after).execute();
}

/** Locks the processes of an agent: none of them gets an attempt until the transaction ends. @returns their ids */
export async function lockProcesses(tx: Connection, agentKey: string): Promise<string[]> {
  const rows = await tx
    .selectFrom('agent_process')
    .select('id')
    .where('agent_key', '=', agentKey)
    .forUpdate()
    .execute();
  return rows.map(({ id }) => id);
}

/** The processes of an agent count as signed off: nothing waits for them. */
export async function signOffProcesses(tx: Connection, agentKey: string): Promise<void> {
  await tx
    .updateTable('agent_process')
    .set({ said_goodbye: true })
    .where('agent_key', '=', agentKey)
    .execute();
}

/** The last contacts of agents, each with the version of the process; agents that were never started are missing. */
export async function newestProcesses(db: Connection, agentKeys: readonly string[]) {
  if (agentKeys.length === 0) return [];
  return db
    .selectFrom('agent_process')
    .distinctOn('agent_key')
    .select(['agent_key', 'contact_at', 'version'])
    .where('agent_key', 'in', [...agentKeys])
    .orderBy('agent_key')
    .orderBy('contact_at', 'desc')
    .execute();
}

/** The processes of agents that did not sign off and had contact after a time. */
export async function listProcesses(db: Connection, agentKeys: readonly string[], after: Date) {
  if (agentKeys.length === 0) return [];
  return db
    .selectFrom('agent_process')
    .select(['agent_key', 'hostname', 'version', 'contact_at', 'isolation'])
    .select(['tools', 'work_folder', 'slots', 'condition'])
    .where('agent_key', 'in', [...agentKeys])
    .where('said_goodbye', '=', false)
    .where('contact_at', '>', after)
    .orderBy('hostname')
    .orderBy('id')
    .execute();
}

/** Processes that did not sign off and had contact after a time, with their last contact and their agent. */
export async function listContacts(db: Connection, after: Date) {
  return db
    .selectFrom('agent_process')
    .innerJoin('agent', 'agent.agent_key', 'agent_process.agent_key')
    .select(['agent_process.id', 'agent_process.agent_key', 'hostname', 'contact_at'])
    .select(['agent.id as agent_id', 'agent.organization_id'])
    .where('said_goodbye', '=', false)
    .where('contact_at', '>', after)
    .execute();
}

/** A process that may take jobs. */
export interface ProcessAbility {
  readonly agent_key: string;
  readonly organization_id: string;
  readonly is_shared: boolean;
  readonly tools: readonly string[];
  readonly work_folder: string;
  /** Whether it takes jobs of projects without an agent. */
  readonly takes_others: boolean;
}

/** The agent that a project waits for. */
export interface AssignedAgent {
  readonly project_id: string;
  readonly agent_key: string;
  readonly name: string;
  /** Last contact of any of its processes; null: it was never started. */
  readonly contact_at: string | null;
}

/** Facts about agents that say why jobs wait. */
export interface KnownAgents {
  /** Processes that did not say goodbye and had contact after a time, of all organizations. */
  readonly connected: readonly ProcessAbility[];
  /** Of some projects; those that have no agent are missing. */
  readonly assigned: readonly AssignedAgent[];
}

const selectKnown = statement<KnownAgents>(`
  select
    coalesce((select json_agg(json_build_object('agent_key', agent.agent_key, 'tools', p.tools,
      'work_folder', p.work_folder, 'organization_id', agent.organization_id, 'is_shared', agent.is_shared,
      'takes_others', ${takesOthers('agent.agent_key')}))
      from agent_process p join agent on agent.agent_key = p.agent_key
      where p.contact_at > $1 and not p.said_goodbye), '[]') as connected,
    coalesce((select json_agg(json_build_object('project_id', project.id, 'agent_key', agent.agent_key,
      'name', agent.name, 'contact_at', (select max(contact_at)
        from agent_process p where p.agent_key = agent.agent_key)))
      from project join agent on agent.agent_key = ${agentOfProject}
      where project.id = any($2::uuid[])), '[]') as assigned`);

/** @param after the time since which a process counts as connected */
export async function loadKnownAgents(
  db: Connection,
  after: Date,
  projectIds: readonly string[],
): Promise<KnownAgents> {
  const [row] = await selectKnown(db, after, [...new Set(projectIds)]);
  return row ?? { connected: [], assigned: [] };
}

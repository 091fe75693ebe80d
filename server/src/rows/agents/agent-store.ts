/** SQL of agents: keys under which processes work. */

import type { Insertable, Selectable, Updateable } from 'kysely';
import type { Connection, Context } from '../../framework/context.ts';
import { type FindHome, isUuid } from '../entity-home.ts';
import { lockOrganizationRow } from '../organizations/organization-store.ts';
import { inOrganization } from '../places.ts';
import type { AgentTable } from '../schema.ts';

export type AgentRow = Selectable<AgentTable>;

/** Whether a text names the default agent: clients write names of their own before the end of its key. */
export function isDefaultAgentName(key: string): boolean {
  return key.endsWith('_DEFAULT');
}

function agentsNamed(db: Connection, name: string) {
  const query = db.selectFrom('agent').selectAll().where('deleted_at', 'is', null);
  if (isDefaultAgentName(name)) return query.where('is_default', '=', true);
  return isUuid(name) ? query.where('id', '=', name) : query.where('agent_key', '=', name);
}

/** @param name the key of an agent, its id, or any name of the default agent */
export async function findAgent(db: Connection, name: string): Promise<AgentRow | undefined> {
  return agentsNamed(db, name).executeTakeFirst();
}

/** The agents of organizations, and those that all organizations share. */
export async function listAgentRows(db: Connection, organizationIds: readonly string[]): Promise<AgentRow[]> {
  if (organizationIds.length === 0) return [];
  return db
    .selectFrom('agent')
    .selectAll()
    .where(({ eb, or }) =>
      or([eb('organization_id', 'in', [...organizationIds]), eb('is_shared', '=', true)]),
    )
    .where('deleted_at', 'is', null)
    .orderBy('created_at', 'desc')
    .orderBy('agent_key')
    .execute();
}

/** Locks an agent until the transaction ends. @param name as for `findAgent` */
export async function lockAgent(tx: Connection, name: string): Promise<void> {
  await agentsNamed(tx, name).forUpdate().execute();
}

/**
 * Whether an organization has another agent of a name: no one could distinguish them. Locks the organization, so that
 * simultaneous calls are put in an order.
 */
async function isNameTaken(
  tx: Connection,
  {
    organization_id,
    name,
    agent_key = '',
  }: Pick<Insertable<AgentTable>, 'organization_id' | 'name'> & {
    readonly agent_key?: string;
  },
): Promise<boolean> {
  await lockOrganizationRow(tx, organization_id);
  const same = await tx
    .selectFrom('agent')
    .select('id')
    .where('organization_id', '=', organization_id)
    .where('name', '=', name)
    .where('agent_key', '<>', agent_key)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  return same !== undefined;
}

/**
 * An agent of one organization, under a new key.
 * @returns undefined where the organization has an agent of that name
 */
export async function insertAgent(
  tx: Connection,
  { newId, now }: Pick<Context, 'newId' | 'now'>,
  agent: Pick<Insertable<AgentTable>, 'organization_id' | 'name' | 'description' | 'logs' | 'created_by'>,
): Promise<AgentRow | undefined> {
  if (await isNameTaken(tx, agent)) return undefined;
  const id = newId();
  const at = now();
  return tx
    .insertInto('agent')
    .values({ ...agent, id, agent_key: `agent-${id.slice(-12)}`, created_at: at, updated_at: at })
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Omitted columns are unchanged. @returns undefined where the organization has another agent of that name */
export async function updateAgentRow(
  tx: Connection,
  agent: Pick<AgentRow, 'agent_key' | 'organization_id'>,
  changes: Pick<Updateable<AgentTable>, 'name' | 'description' | 'logs' | 'updated_at'>,
): Promise<AgentRow | undefined> {
  const { name } = changes;
  if (name !== undefined && (await isNameTaken(tx, { ...agent, name }))) return undefined;
  return tx
    .updateTable('agent')
    .set(changes)
    .where('agent_key', '=', agent.agent_key)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** The agent is not shown any more and its secrets are refused; what it ran keeps its row. */
export async function setAgentDeleted(tx: Connection, agentKey: string, at: Date): Promise<void> {
  await tx.deleteFrom('agent_secret').where('agent_key', '=', agentKey).execute();
  await tx.updateTable('agent').set({ deleted_at: at }).where('agent_key', '=', agentKey).execute();
}

/** Home of an agent, by its key or its id: clients send either. */
export const agentHome: FindHome = async (db, key) => {
  const row = await findAgent(db, key);
  return row && inOrganization(row.organization_id);
};

/** The agent that runs deployments of organizations without agents of their own: all of them share it. */
export async function insertDefaultAgent(
  tx: Connection,
  row: Omit<Insertable<AgentTable>, 'is_default' | 'is_shared'>,
): Promise<void> {
  await tx
    .insertInto('agent')
    .values({ ...row, is_default: true, is_shared: true })
    .execute();
}

/** SQL of agents (a key under which processes work) and their secrets. */
import type { Selectable } from 'kysely';
import { type FindHome, isUuid } from '../access/entity-home.ts';
import type { Connection, Context } from '../context.ts';
import type { AgentSecretTable, AgentTable } from '../database/schema.ts';
import { newKeySecret } from '../secrets/api-key-hash.ts';

export type AgentRow = Selectable<AgentTable>;
export type AgentSecretRow = Selectable<AgentSecretTable>;

export async function findAgent(db: Connection, keyOrId: string): Promise<AgentRow | undefined> {
  const query = db.selectFrom('agent').selectAll();
  return (
    isUuid(keyOrId) ? query.where('id', '=', keyOrId) : query.where('agent_key', '=', keyOrId)
  ).executeTakeFirst();
}

export async function listAgentRows(db: Connection, organizationIds: readonly string[]): Promise<AgentRow[]> {
  if (organizationIds.length === 0) return [];
  return db
    .selectFrom('agent')
    .selectAll()
    .where('organization_id', 'in', [...organizationIds])
    .orderBy('created_at', 'desc')
    .orderBy('agent_key')
    .execute();
}

/** @returns the row and the secret, which nobody can read again */
export async function insertAgentSecret(
  tx: Connection,
  context: Context,
  agentKey: string,
  createdBy: string,
  description: string | null,
): Promise<{ row: AgentSecretRow; secret: string }> {
  const secret = newKeySecret();
  const row = await tx
    .insertInto('agent_secret')
    .values({
      id: context.newId(),
      agent_key: agentKey,
      description,
      secret_hmac: context.keyHash.hash(secret),
      created_by: createdBy,
      created_at: context.now(),
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  return { row, secret };
}

/** The last contact of any process that works under a key, and its version. */
export async function newestProcess(db: Connection, agentKey: string) {
  return db
    .selectFrom('agent_process')
    .select(['contact_at', 'version', 'said_goodbye'])
    .where('agent_key', '=', agentKey)
    .orderBy('contact_at', 'desc')
    .limit(1)
    .executeTakeFirst();
}

/** Where an agent lives, by its key or its id: clients send either. */
export const agentHome: FindHome = async (db, key) => {
  const row = await findAgent(db, key);
  return row && { organizationId: row.organization_id, projectId: null };
};

/** Processes that did not say goodbye and were heard of after a time, with their last contact. */
export async function listContacts(db: Connection, after: Date) {
  return db
    .selectFrom('agent_process')
    .select(['id', 'agent_key', 'hostname', 'contact_at'])
    .where('said_goodbye', '=', false)
    .where('contact_at', '>', after)
    .execute();
}

/** SQL of agents (a key under which processes work) and their secrets. */
import type { Insertable, Selectable } from 'kysely';
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

/** Where an agent lives, by its key or its id: clients send either. */
export const agentHome: FindHome = async (db, key) => {
  const row = await findAgent(db, key);
  return row && { organizationId: row.organization_id, projectId: null };
};

/** The agent that runs deployments of organizations without agents of their own. */
export async function insertDefaultAgent(
  tx: Connection,
  row: Omit<Insertable<AgentTable>, 'is_default'>,
): Promise<void> {
  await tx
    .insertInto('agent')
    .values({ ...row, is_default: true })
    .execute();
}

/** Hashes of all secrets of an agent key. */
export async function listSecretHashes(db: Connection, agentKey: string): Promise<Buffer[]> {
  const rows = await db
    .selectFrom('agent_secret')
    .select('secret_hmac')
    .where('agent_key', '=', agentKey)
    .execute();
  return rows.map((row) => row.secret_hmac);
}

export async function deleteAgentSecret(tx: Connection, agentKey: string, secretHmac: Buffer): Promise<void> {
  await tx
    .deleteFrom('agent_secret')
    .where('agent_key', '=', agentKey)
    .where('secret_hmac', '=', secretHmac)
    .execute();
}

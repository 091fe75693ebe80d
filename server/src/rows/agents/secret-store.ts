/** SQL of the secrets of agents, which their processes exchange for tokens. */
import type { Selectable } from 'kysely';
import type { Connection, Context } from '../../framework/context.ts';
import { newKeySecret } from '../../ground/secrets/api-key-hash.ts';
import type { AgentSecretTable } from '../schema.ts';

export type AgentSecretRow = Selectable<AgentSecretTable>;

export interface NewAgentSecret {
  readonly agentKey: string;
  readonly createdBy: string;
  readonly description: string | null;
  /** Null: it does not end. */
  readonly expiresAt: Date | null;
}

/** @returns the row and the secret, which cannot be read again */
export async function insertAgentSecret(
  tx: Connection,
  context: Pick<Context, 'newId' | 'now' | 'keyHash'>,
  { agentKey, createdBy, description, expiresAt }: NewAgentSecret,
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
      expires_at: expiresAt,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  return { row, secret };
}

/** The secrets of an agent, newest first, with those that have ended; they cannot be read again. */
export async function listAgentSecrets(
  db: Connection,
  agentKey: string,
): Promise<Omit<AgentSecretRow, 'secret_hmac'>[]> {
  return db
    .selectFrom('agent_secret')
    .select(['id', 'agent_key', 'description', 'created_by', 'created_at', 'expires_at', 'last_used_at'])
    .where('agent_key', '=', agentKey)
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .execute();
}

/** When a secret was last used, and when it ends. */
export type SecretTimes = Pick<AgentSecretRow, 'agent_key' | 'expires_at' | 'last_used_at'>;

/** Those of several agents that have not ended. */
export async function listValidSecrets(
  db: Connection,
  agentKeys: readonly string[],
  now: Date,
): Promise<SecretTimes[]> {
  if (agentKeys.length === 0) return [];
  return db
    .selectFrom('agent_secret')
    .select(['agent_key', 'expires_at', 'last_used_at'])
    .where('agent_key', 'in', [...agentKeys])
    .where(({ or, eb }) => or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]))
    .execute();
}

/** @returns whether the agent had that secret */
export async function deleteAgentSecretById(tx: Connection, agentKey: string, id: string): Promise<boolean> {
  const row = await tx
    .deleteFrom('agent_secret')
    .where('agent_key', '=', agentKey)
    .where('id', '=', id)
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

/** All secrets of an agent key as hashes, with the organization of the agent, and those that have ended. */
export async function listSecretHashes(db: Connection, agentKey: string) {
  return db
    .selectFrom('agent_secret')
    .innerJoin('agent', 'agent.agent_key', 'agent_secret.agent_key')
    .select(['agent_secret.id', 'agent_secret.secret_hmac', 'agent_secret.expires_at'])
    .select(['agent.organization_id', 'agent.is_shared'])
    .where('agent_secret.agent_key', '=', agentKey)
    .execute();
}

export async function noteSecretUse(tx: Connection, id: string, at: Date): Promise<void> {
  await tx.updateTable('agent_secret').set({ last_used_at: at }).where('id', '=', id).execute();
}

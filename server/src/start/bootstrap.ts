/**
 * Entities of every installation after its first start: an organization with a project, the first admin key, the
 * built-in agent.
 */
import { sql } from 'kysely';
import { actorWithoutRights } from '../framework/access/actor.ts';
import type { ActorContext, Connection, Context } from '../framework/context.ts';
import { inTransaction } from '../ground/database/transaction.ts';
import { newKeySecret } from '../ground/secrets/api-key-hash.ts';
import { insertDefaultAgent } from '../rows/agents/agent-store.ts';
import { deleteAgentSecretById, insertAgentSecret, listSecretHashes } from '../rows/agents/secret-store.ts';
import { hasApiKey, insertBootstrapKey, insertUser, systemUserId } from '../rows/users/user-store.ts';
import { createOrganization } from '../tenancy/organizations/create-organization.ts';

export interface FirstKey {
  readonly id: string;
  readonly secret: string;
}

export const builtInAgentKey = 'ENVARIUM_DEFAULT';
const firstKeyName = 'First admin key';
const bootstrapLock = 7_305_121;

/** The first key is its own user: it does not belong to a person. */
async function insertKey(context: Context, key: FirstKey): Promise<void> {
  await insertUser(context.db, { id: key.id, name: firstKeyName, isApiKey: true });
  const secretHmac = context.keyHash.hash(key.secret);
  await insertBootstrapKey(context.db, { id: key.id, name: firstKeyName, secretHmac });
}

function asUser(context: Context, tx: Connection, userId: string): ActorContext {
  return {
    ...context,
    db: tx as Context['db'],
    actor: actorWithoutRights(userId),
    requestId: 'first start',
  };
}

/**
 * Creates what is missing, which is nothing on later starts.
 * @param configuredKey the first key by settings, else one is drawn
 * @returns the first key where it was made now, to be shown once
 */
export async function bootstrap(context: Context, configuredKey: FirstKey | null): Promise<FirstKey | null> {
  return inTransaction(context, async (context) => {
    // Two servers that start on an empty database at once: the second finds what the first has made.
    await sql`select pg_advisory_xact_lock(${bootstrapLock})`.execute(context.db);
    if (await hasApiKey(context.db)) return null;
    const key = configuredKey ?? { id: context.newId(), secret: newKeySecret() };
    await insertUser(context.db, { id: systemUserId, name: 'Envarium', isApiKey: false });
    await insertKey(context, key);
    const organization = await createOrganization(asUser(context, context.db, key.id), { name: 'Envarium' });
    await insertDefaultAgent(context.db, {
      agent_key: builtInAgentKey,
      id: context.newId(),
      organization_id: organization.id,
      name: 'Default',
      created_by: systemUserId,
    });
    return key;
  });
}

/**
 * A secret for the built-in agent of this service, new at each start. Other services on the same database have
 * agents of their own.
 * @param before the secret of the last start, invalid from now on; null if there was none
 */
export async function renewBuiltInSecret(context: Context, before: string | null): Promise<string> {
  return inTransaction(context, async (context) => {
    // Found by comparing: it may be hashed under a former sealing key.
    const known = before === null ? [] : await listSecretHashes(context.db, builtInAgentKey);
    const last = known.find(({ secret_hmac: hash }) => context.keyHash.matches(before ?? '', hash));
    if (last) await deleteAgentSecretById(context.db, builtInAgentKey, last.id);
    const made = await insertAgentSecret(context.db, context, {
      agentKey: builtInAgentKey,
      createdBy: systemUserId,
      description: 'agent of this service',
      expiresAt: null,
    });
    return made.secret;
  });
}

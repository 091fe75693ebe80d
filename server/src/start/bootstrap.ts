/**
 * What an installation has from its first start on: an organization with a project, the first admin key, the
 * agent beside the service.
 */
import { sql } from 'kysely';
import { systemUserId } from '../access/actor.ts';
import { insertAgentSecret } from '../agents/agent-store.ts';
import type { ActorContext, Connection, Context } from '../context.ts';
import { inTransaction } from '../database/transaction.ts';
import { createOrganization } from '../organizations/create-organization.ts';
import { newKeySecret } from '../secrets/api-key-hash.ts';

export interface FirstKey {
  readonly id: string;
  readonly secret: string;
}

export const builtInAgentKey = 'ENVARIUM_DEFAULT';
const firstKeyName = 'First admin key';
const bootstrapLock = 7_305_121;

async function insertUser(tx: Connection, id: string, name: string, isApiKey: boolean): Promise<void> {
  await tx
    .insertInto('app_user')
    .values({ id, name, email: '', is_api_key: isApiKey })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** The first key is a user of its own: it is tied to no person. */
async function insertKey(context: Context, key: FirstKey): Promise<void> {
  await insertUser(context.db, key.id, firstKeyName, true);
  await context.db
    .insertInto('api_key')
    .values({
      id: key.id,
      name: firstKeyName,
      user_id: key.id,
      secret_hmac: context.keyHash.hash(key.secret),
      is_bootstrap: true,
    })
    .execute();
}

async function insertAgent(context: Context, organizationId: string): Promise<void> {
  await context.db
    .insertInto('agent')
    .values({
      agent_key: builtInAgentKey,
      id: context.newId(),
      organization_id: organizationId,
      name: 'Default',
      is_default: true,
      created_by: systemUserId,
    })
    .execute();
}

function asUser(context: Context, tx: Connection, userId: string): ActorContext {
  return {
    ...context,
    db: tx as Context['db'],
    actor: { userId, name: userId, email: '', roles: new Map() },
    requestId: 'first start',
  };
}

/**
 * Makes what is missing; on every later start that is nothing.
 * @param given the first key by settings, else one is drawn
 * @returns the first key where it was made now, to be shown once
 */
export async function bootstrap(context: Context, given: FirstKey | null): Promise<FirstKey | null> {
  return inTransaction(context, async (context) => {
    // Two servers that start on an empty database at once: the second finds what the first has made.
    await sql`select pg_advisory_xact_lock(${bootstrapLock})`.execute(context.db);
    const known = await context.db.selectFrom('api_key').select('id').limit(1).executeTakeFirst();
    if (known) return null;
    const key = given ?? { id: context.newId(), secret: newKeySecret() };
    await insertUser(context.db, systemUserId, 'Envarium', false);
    await insertKey(context, key);
    const organization = await createOrganization(asUser(context, context.db, key.id), { name: 'Envarium' });
    await insertAgent(context, organization.id);
    return key;
  });
}

/**
 * A secret for the agent beside this service, new at each start. Other services on the same database have
 * agents of their own.
 * @param before the secret of the last start, void from now on; null where there was none
 */
export async function renewBuiltInSecret(context: Context, before: string | null): Promise<string> {
  return inTransaction(context, async (context) => {
    if (before !== null)
      await context.db
        .deleteFrom('agent_secret')
        .where('agent_key', '=', builtInAgentKey)
        .where('secret_hmac', '=', context.keyHash.hash(before))
        .execute();
    return (
      await insertAgentSecret(context.db, context, builtInAgentKey, systemUserId, 'agent beside the service')
    ).secret;
  });
}

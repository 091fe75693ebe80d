/** Operations on keys that act as the person they belong to: users manage their own ones, and no others. */
import { operations } from '#contract/operations.ts';
import { recordAudit } from '../../framework/audit/record.ts';
import type { ActorContext } from '../../framework/context.ts';
import { type Route, route } from '../../framework/http/route.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { conflict, notFound, Refusal } from '../../ground/errors.ts';
import { newKeySecret } from '../../ground/secrets/api-key-hash.ts';
import {
  type ApiKeyRow,
  deleteApiKeyRow,
  getApiKeyRow,
  insertApiKey,
  listKeysOfUser,
  lockApiKeyRow,
} from '../../rows/users/api-key-store.ts';
import { getUsers } from '../../rows/users/user-store.ts';
import { personalApiKeyViews } from './api-key-view.ts';
import { limitColumns } from './key-limits.ts';
import { addSecret, deleteSecret } from './key-secrets.ts';

/** @throws Refusal 404 for keys of others, and of organizations */
function withOwnKey<Result>(
  context: ActorContext,
  id: string,
  work: (context: ActorContext, row: ApiKeyRow) => Promise<Result>,
): Promise<Result> {
  return inTransaction(context, async (context) => {
    const row = await lockApiKeyRow(context.db, id);
    if (row?.user_id !== context.actor.userId || row.organization_id !== null)
      throw notFound('personal API key', id);
    return work(context, row);
  });
}

/**
 * A stolen key that is limited in time or place must not make itself one without these limits.
 * @throws Refusal 403
 */
async function requireUnlimited({ db, actor }: ActorContext): Promise<void> {
  const key = actor.keyId === null ? undefined : await getApiKeyRow(db, actor.keyId);
  if (key && (key.expires_at !== null || key.networks.length > 0))
    throw new Refusal(
      'forbidden',
      'A key that expires or is limited to networks cannot create or change other keys: sign in',
    );
}

function audit(context: ActorContext, action: string, row: ApiKeyRow): Promise<void> {
  return recordAudit(context, {
    organizationId: null,
    action: `apiKey.${action}`,
    entityId: row.id,
    details: {
      name: row.name,
      userId: row.user_id,
      expiresAt: row.expires_at?.toISOString() ?? null,
      networks: row.networks,
    },
  });
}

export const personalApiKeyRoutes: Route[] = [
  route(operations.listPersonalApiKeys, async ({ db, actor }) =>
    personalApiKeyViews(db, await listKeysOfUser(db, actor.userId)),
  ),
  route(operations.createPersonalApiKey, (context, { body }) => {
    const limits = limitColumns(context, body);
    return inTransaction(context, async (context) => {
      const { db, actor } = context;
      const user = (await getUsers(db, [actor.userId])).get(actor.userId);
      if (user?.is_api_key !== false)
        throw new Refusal('forbidden', 'Only people have personal keys: create a key of an organization');
      await requireUnlimited(context);
      const [id, value, now] = [context.newId(), newKeySecret(), context.now()];
      const row = await insertApiKey(db, {
        id,
        name: body.name,
        user_id: actor.userId,
        created_by: actor.userId,
        created_at: now,
        secret_id: context.newId(),
        secret_hmac: context.keyHash.hash(value),
        secret_created_at: now,
        ...limits,
      });
      await audit(context, 'created', row);
      const [view] = await personalApiKeyViews(db, [row]);
      return { ...(view as NonNullable<typeof view>), apiKeySecret: value };
    });
  }),
  route(operations.deletePersonalApiKey, (context, { params: { id } }) =>
    withOwnKey(context, id, async (context, row) => {
      if (row.is_bootstrap)
        throw conflict('The first key of the installation cannot be deleted: change its secret instead');
      await deleteApiKeyRow(context.db, id);
      await audit(context, 'deleted', row);
      return { id };
    }),
  ),
  route(operations.addPersonalApiKeySecret, (context, { params: { id } }) =>
    withOwnKey(context, id, async (context, row) => {
      if (context.actor.keyId !== id) await requireUnlimited(context);
      return addSecret(context, row);
    }),
  ),
  route(operations.deletePersonalApiKeySecret, (context, { params: { id, secretId } }) =>
    withOwnKey(context, id, (context, row) => deleteSecret(context, row, secretId)),
  ),
];

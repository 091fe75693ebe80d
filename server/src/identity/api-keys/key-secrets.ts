/** One or two secrets of a key: a second one lets its users change over before the first one is deleted. */

import type { operations } from '#contract/operations.ts';
import type { ReplyOf } from '#contract/schema/operation.ts';
import { recordAudit } from '../../framework/audit/record.ts';
import type { ActorContext } from '../../framework/context.ts';
import { conflict, notFound } from '../../ground/errors.ts';
import { newKeySecret } from '../../ground/secrets/api-key-hash.ts';
import { type ApiKeyRow, updateApiKeyRow } from '../../rows/users/api-key-store.ts';

type NewSecret = ReplyOf<typeof operations.addApiKeySecret>;

function audit(context: ActorContext, row: ApiKeyRow, action: string, secretId: string): Promise<void> {
  return recordAudit(context, {
    organizationId: row.organization_id,
    action: `apiKey.${action}`,
    entityId: row.id,
    details: { name: row.name, secretId },
  });
}

/** @param row locked. @throws Refusal 409 where the key has two secrets */
export async function addSecret(context: ActorContext, row: ApiKeyRow): Promise<NewSecret> {
  if (row.second_secret_id !== null)
    throw conflict('This key has two secrets: delete the one that is not used any more first');
  const [id, value, now] = [context.newId(), newKeySecret(), context.now()];
  await updateApiKeyRow(context.db, row.id, {
    second_secret_id: id,
    second_secret_hmac: context.keyHash.hash(value),
    second_secret_created_at: now,
    second_secret_used_at: null,
  });
  await audit(context, row, 'secretAdded', id);
  return { id, apiKeyId: row.id, apiKeySecret: value, createdAt: now.toISOString() };
}

/**
 * @param row locked
 * @throws Refusal 404 for a secret that the key does not have, 409 for its only one
 */
export async function deleteSecret(
  context: ActorContext,
  row: ApiKeyRow,
  secretId: string,
): Promise<{ id: string }> {
  if (secretId !== row.secret_id && secretId !== row.second_secret_id)
    throw notFound('secret of this key', secretId);
  const { second_secret_id: second, second_secret_hmac: hmac, second_secret_created_at: at } = row;
  if (second === null || hmac === null || at === null)
    throw conflict('This is the only secret of the key: add another one first, or delete the key');
  const remaining =
    secretId === second
      ? {}
      : {
          secret_id: second,
          secret_hmac: hmac,
          secret_created_at: at,
          secret_used_at: row.second_secret_used_at,
        };
  await updateApiKeyRow(context.db, row.id, {
    ...remaining,
    second_secret_id: null,
    second_secret_hmac: null,
    second_secret_created_at: null,
    second_secret_used_at: null,
  });
  await audit(context, row, 'secretDeleted', secretId);
  return { id: secretId };
}

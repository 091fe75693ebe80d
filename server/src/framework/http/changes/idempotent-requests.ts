/**
 * `Idempotency-Key`: the same request under the same key is carried out once; a repetition gets the first
 * answer.
 */
import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { inTransaction } from '../../../ground/database/transaction.ts';
import { conflict, Refusal } from '../../../ground/errors.ts';
import {
  deleteKeysBefore,
  getUsedKey,
  type IdempotencyKey,
  storeReply,
  takeKey,
} from '../../../rows/http/idempotency-key-store.ts';
import type { ActorContext, Context } from '../../context.ts';

/** Time within which a client may repeat a request. */
const keptHours = 48;

/**
 * @returns the key of a request that changes something, or null where it has none
 * @throws Refusal 400 for a malformed key
 */
export function idempotencyKeyOf(request: FastifyRequest): IdempotencyKey | null {
  const key = request.headers['idempotency-key'];
  if (key === undefined) return null;
  if (typeof key !== 'string' || !/^[ -~]{1,255}$/.test(key))
    throw new Refusal(
      'bad_request',
      'The header Idempotency-Key must have 1 to 255 printable ASCII characters',
    );
  return {
    key,
    fingerprint: createHash('sha256')
      .update(`${request.method} ${request.url}\n${typeof request.body === 'string' ? request.body : ''}`)
      .digest('hex'),
  };
}

function association(actorId: string, key: string) {
  return { table: 'idempotency_key', row: `${actorId} ${key}`, field: 'sealed_reply' };
}

/**
 * The key is stored in the transaction of the change: both or neither. A refusal leaves nothing behind, so that
 * the same request can succeed later.
 * @param verb makes the reply's text
 * @throws Refusal 409 where the key was used for another request
 */
export async function runIdempotently(
  context: ActorContext,
  { key, fingerprint }: IdempotencyKey,
  verb: (context: ActorContext) => Promise<string>,
): Promise<{ readonly answer: string; readonly isReplayed: boolean }> {
  const actorId = context.actor.userId;
  return inTransaction(context, async (context) => {
    if (await takeKey(context.db, actorId, { key, fingerprint })) {
      const answer = await verb(context);
      const sealed = context.sealer.seal(answer, association(actorId, key));
      await storeReply(context.db, actorId, key, sealed);
      return { answer, isReplayed: false };
    }
    const stored = await getUsedKey(context.db, actorId, key);
    const isSame = stored.request_sha256 === fingerprint && stored.sealed_reply !== null;
    if (!isSame)
      throw conflict(
        'The header Idempotency-Key was already used for another request: repeat that one unchanged, or use a new key',
      );
    const opened = context.sealer.open(stored.sealed_reply as Buffer, association(actorId, key));
    return { answer: opened.toString('utf8'), isReplayed: true };
  });
}

/** Loop: removes expired keys. */
export async function deleteExpiredKeys(context: Context): Promise<void> {
  const before = new Date(context.now().getTime() - keptHours * 3_600_000);
  await deleteKeysBefore(context.db, before);
}

/**
 * The keys that sign the tokens of runs. Each one is published a day before it signs, because clouds keep what they have
 * read, and until the last token that it signed has expired. All servers of an installation share them.
 */
import { createPrivateKey, generateKeyPair, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import type { JWK } from 'jose';
import type { Context } from '../../framework/context.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import {
  deleteKeyRows,
  insertKeyRow,
  listKeyRows,
  lockRotation,
  type OidcKeyRow,
} from '../../rows/oidc-issuer/oidc-key-store.ts';

/** Algorithm that AWS, Azure and Google Cloud accept. */
export const algorithm = 'RS256';
const modulusBits = 2048;
const hour = 3_600_000;
const day = 24 * hour;
const publishedAheadMilliseconds = day;
/** No token is valid for longer, whatever the time limits of runs are. */
export const longestTokenSeconds = 86_400;
const keptMilliseconds = longestTokenSeconds * 1000 + hour;

type IssuerKey = Pick<OidcKeyRow, 'id' | 'signs_from'>;

/** Actions due for the keys of an installation. */
interface DueChanges {
  /** When a new key starts to sign; null: none is needed. */
  readonly signsFrom: Date | null;
  /** Keys whose tokens have all expired. */
  readonly expired: readonly string[];
}

/**
 * @param keys the one that signs last first
 * @param everyDays how long a key signs
 */
function dueChanges(keys: readonly IssuerKey[], now: Date, everyDays: number): DueChanges {
  const at = now.getTime();
  const [newest] = keys;
  const expired = keys.filter((_, index) => {
    const successor = keys[index - 1];
    return successor !== undefined && successor.signs_from.getTime() + keptMilliseconds < at;
  });
  if (newest === undefined) return { signsFrom: now, expired: [] };
  const nextAt = newest.signs_from.getTime() + everyDays * day;
  const isDue = nextAt - publishedAheadMilliseconds <= at;
  return {
    signsFrom: isDue ? new Date(Math.max(nextAt, at + publishedAheadMilliseconds)) : null,
    expired: expired.map(({ id }) => id),
  };
}

function association(id: string) {
  return { table: 'oidc_key', row: id, field: 'sealed_private_key' };
}

type KeyContext = Pick<Context, 'db' | 'settings' | 'sealer' | 'now' | 'newId'>;

async function createKey({ db, sealer, now, newId }: KeyContext, signsFrom: Date): Promise<void> {
  const id = newId();
  const { publicKey, privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: modulusBits });
  const text = privateKey.export({ type: 'pkcs8', format: 'pem' });
  await insertKeyRow(db, {
    id,
    public_key: { ...publicKey.export({ format: 'jwk' }), kid: id, alg: algorithm, use: 'sig' },
    sealed_private_key: sealer.seal(text, association(id)),
    created_at: now(),
    signs_from: signsFrom,
  });
}

/** Creates the next key when it is due, and removes those that are no longer needed. */
export async function rotateKeys(context: KeyContext): Promise<void> {
  await inTransaction(context, async (context) => {
    await lockRotation(context.db);
    const { signsFrom, expired } = dueChanges(
      await listKeyRows(context.db),
      context.now(),
      context.settings.oidcKeyDays,
    );
    if (signsFrom !== null) await createKey(context, signsFrom);
    await deleteKeyRows(context.db, expired);
  });
}

/** The keys of an installation, at least one. */
async function keysOf(context: KeyContext): Promise<OidcKeyRow[]> {
  const rows = await listKeyRows(context.db);
  if (rows.length > 0) return rows;
  await rotateKeys(context);
  return listKeyRows(context.db);
}

/** As they are published, without private parts. */
export async function publishedKeys(context: KeyContext): Promise<JWK[]> {
  return (await keysOf(context)).map((row) => row.public_key);
}

/** @returns the key that signs now, and its id */
export async function signingKey(context: KeyContext): Promise<{ id: string; key: KeyObject }> {
  const rows = await keysOf(context);
  const now = context.now();
  const row = rows.find(({ signs_from }) => signs_from <= now) ?? rows.at(-1);
  if (!row) throw new Error('There is no key that signs tokens of runs');
  const text = context.sealer.open(row.sealed_private_key, association(row.id)).toString('utf8');
  return { id: row.id, key: createPrivateKey(text) };
}

/** SQL of sign-ins that wait for their provider, and of codes that wait for the command line. */
import { hash } from 'node:crypto';
import type { SignInWay } from '#contract/sign-in/shapes.ts';
import type { Connection, Context } from '../../framework/context.ts';

/** State of a sign-in while its person is at the provider. */
export interface WaitingSignIn {
  readonly nonce: string;
  readonly codeVerifier: string;
  /** SHA-256 of a cookie: only the browser that began a sign-in can finish it. */
  readonly browser: string;
  /** The path to return to. */
  readonly returnTo: string;
  /** The command line that waits for it. */
  readonly cli: WaitingCli | null;
}

export interface WaitingCli {
  readonly redirectUri: string;
  readonly codeChallenge: string;
  readonly state: string;
}

/** Of random texts: nothing that can be guessed. */
export function sha256(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}

function association(state: string) {
  return { table: 'oidc_request', row: sha256(state).toString('hex'), field: 'sealed_details' };
}

type SealingContext = Pick<Context, 'db' | 'sealer'>;

export async function insertWaiting(
  { db, sealer }: SealingContext,
  state: string,
  waiting: WaitingSignIn,
  expiresAt: Date,
): Promise<void> {
  await db
    .insertInto('oidc_request')
    .values({
      state_sha256: sha256(state),
      sealed_details: sealer.seal(JSON.stringify(waiting), association(state)),
      expires_at: expiresAt,
    })
    .execute();
}

/** Takes what waits for a state, which is used once. @returns null for a state that is unknown, used or expired */
export async function takeWaiting(
  { db, sealer }: SealingContext,
  state: string,
  now: Date,
): Promise<WaitingSignIn | null> {
  const row = await db
    .deleteFrom('oidc_request')
    .where('state_sha256', '=', sha256(state))
    .returning(['sealed_details', 'expires_at'])
    .executeTakeFirst();
  if (!row || row.expires_at <= now) return null;
  return JSON.parse(sealer.open(row.sealed_details, association(state)).toString('utf8')) as WaitingSignIn;
}

export interface CliCode {
  readonly userId: string;
  readonly way: SignInWay;
  readonly codeChallenge: string;
  readonly redirectUri: string;
}

export async function insertCliCode(
  db: Connection,
  code: string,
  value: CliCode,
  expiresAt: Date,
): Promise<void> {
  await db
    .insertInto('cli_code')
    .values({
      code_sha256: sha256(code),
      user_id: value.userId,
      way: value.way,
      code_challenge: value.codeChallenge,
      redirect_uri: value.redirectUri,
      expires_at: expiresAt,
    })
    .execute();
}

/**
 * Consumes a code, which can be used once. @returns null for a code that is unknown, used or
 * expired
 */
export async function takeCliCode(db: Connection, code: string, now: Date): Promise<CliCode | null> {
  const row = await db
    .deleteFrom('cli_code')
    .where('code_sha256', '=', sha256(code))
    .returningAll()
    .executeTakeFirst();
  if (!row || row.expires_at <= now) return null;
  const { user_id: userId, way, code_challenge: codeChallenge, redirect_uri: redirectUri } = row;
  return { userId, way, codeChallenge, redirectUri };
}

export async function deleteExpiredRequests(db: Connection, now: Date): Promise<void> {
  await db.deleteFrom('oidc_request').where('expires_at', '<=', now).execute();
  await db.deleteFrom('cli_code').where('expires_at', '<=', now).execute();
}

/** Codes of a person whose account ends. */
export async function deleteCodesOf(tx: Connection, userId: string): Promise<void> {
  await tx.deleteFrom('cli_code').where('user_id', '=', userId).execute();
}

/**
 * Tokens of agents: what a process calls with in place of the secret of its agent. A token is not stored. It names
 * the process, its epoch and the secret, with an authentication code under a key that is not in the database; each call
 * looks whether all three still count.
 */
import type { AgentToken } from '#protocol/messages/agent.ts';
import type { Context } from '../../framework/context.ts';
import { type Credentials, readCredentials } from '../../framework/http/callers/credentials.ts';

const longestSeconds = 3_600;

/** The process and the secret that a token stands for. */
export interface TokenClaims {
  readonly agentKey: string;
  readonly agentId: string;
  readonly epoch: number;
  readonly secretId: string;
}

interface ReadToken extends TokenClaims {
  readonly expiresAt: Date;
}

type Signing = Pick<Context, 'keyHash'>;

/** The text that the code covers: no secret of a key begins like this. */
function signedText(agentKey: string, claims: string): string {
  return `token of an agent\n${agentKey}\n${claims}`;
}

/** @param secretEnd when the secret ends; null: never */
export function issueToken(
  { keyHash, now }: Signing & Pick<Context, 'now'>,
  { agentKey, agentId, epoch, secretId }: TokenClaims,
  secretEnd: Date | null,
): AgentToken {
  const seconds = Math.floor(now().getTime() / 1000);
  const left = secretEnd === null ? longestSeconds : Math.floor(secretEnd.getTime() / 1000) - seconds;
  const expiresInSeconds = Math.max(1, Math.min(longestSeconds, left));
  const claims = [agentId, epoch, secretId, seconds + expiresInSeconds].join('.');
  const code = keyHash.hash(signedText(agentKey, claims)).toString('base64url');
  const token = Buffer.from(`${agentKey}:${claims}.${code}`).toString('base64');
  return { token, expiresInSeconds };
}

/** @returns null for anything that is not a token of this installation; its end is not checked */
function openToken({ keyHash }: Signing, { id: agentKey, secret }: Credentials): ReadToken | null {
  const end = secret.lastIndexOf('.');
  const claims = secret.slice(0, Math.max(0, end));
  const code = Buffer.from(secret.slice(end + 1), 'base64url');
  if (!keyHash.matches(signedText(agentKey, claims), code)) return null;
  const [agentId = '', epoch = '', secretId = '', seconds = ''] = claims.split('.');
  return { agentKey, agentId, epoch: Number(epoch), secretId, expiresAt: new Date(Number(seconds) * 1000) };
}

/** @param header of a call @returns null where it has no token of this installation; its end is not checked */
export function readToken(context: Signing, header: string | undefined): ReadToken | null {
  const credentials = /^bearer /i.test(header ?? '') ? readCredentials(header) : null;
  return credentials && openToken(context, credentials);
}

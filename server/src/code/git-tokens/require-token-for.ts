/** Checks which token is to be sent to which host, where either is written. */

import type { Connection } from '../../framework/context.ts';
import { badField } from '../../ground/errors.ts';
import { type GitTokenRow, getRepositoryToken, isTokenFor } from '../../rows/git-tokens/git-token-store.ts';
import type { UsePlace } from '../../rows/projects/project-store.ts';

export interface TokenUse extends UsePlace {
  readonly tokenId: string;
  readonly repository: string;
}

/**
 * @param field of the request that combines the two, as `body.tokenId`
 * @throws Refusal 400 for a token that names other hosts than that of the repository
 */
export function requireHost(token: GitTokenRow, repository: string, field: string): void {
  if (isTokenFor(token, repository)) return;
  throw badField(
    field,
    `cannot be used: the token "${token.name}" is sent only to ${token.hosts.join(', ')}, and the repository is on ${URL.parse(repository)?.host || 'another host'}`,
  );
}

/**
 * @param field of the request that combines the two, as `body.tokenId`
 * @returns the token
 * @throws Refusal 400 for a token that the organization does not have or the project may not use, or that names
 * other hosts than that of the repository
 */
export async function requireTokenFor(
  db: Connection,
  { tokenId, repository, ...place }: TokenUse,
  field: string,
): Promise<GitTokenRow> {
  const token = await getRepositoryToken(db, place, tokenId);
  if (!token) throw badField(field, 'does not match a git token you have access to');
  requireHost(token, repository, field);
  return token;
}

/**
 * The tokens that name hosts: every run of a project that may use them may have to load code or providers from
 * those.
 */

import type { Job } from '#protocol/messages/job.ts';
import { tokenCredentials } from '../../../code/templates/repository-credentials.ts';
import type { Context } from '../../../framework/context.ts';
import { openToken, tokensOfProject } from '../../../rows/git-tokens/git-token-store.ts';
import type { ProjectPlace } from '../../../rows/projects/project-store.ts';

export interface TokensForRuns {
  readonly hostCredentials: NonNullable<Job['source']['hostCredentials']>;
  readonly registryCredentials: NonNullable<Job['registryCredentials']>;
}

/** @returns each host once for each use; where several tokens name it, the newest one's */
export async function tokensForRuns(
  context: Pick<Context, 'db' | 'sealer'>,
  place: ProjectPlace,
): Promise<TokensForRuns> {
  const rows = (await tokensOfProject(context.db, place)).filter(({ hosts }) => hosts.length > 0);
  const known = { GIT: new Map<string, string>(), REGISTRY: new Map<string, string>() };
  for (const row of rows) {
    const value = openToken(context, row);
    for (const host of row.hosts) if (!known[row.type].has(host)) known[row.type].set(host, value);
  }
  return {
    hostCredentials: [...known.GIT].map(([host, value]) => ({ host, ...tokenCredentials(value) })),
    registryCredentials: [...known.REGISTRY].map(([host, token]) => ({ host, token })),
  };
}

/** The tokens of a run that gets none. */
export const noTokens: TokensForRuns = { hostCredentials: [], registryCredentials: [] };

/** Texts to mask in the logs of such a run. */
export function tokenSecrets({ hostCredentials, registryCredentials }: TokensForRuns): string[] {
  return [
    ...hostCredentials.map(({ password }) => password),
    ...registryCredentials.map(({ token }) => token),
  ];
}

/** Tokens for repositories and registries. */
import type { Family } from '../../framework/family.ts';
import { gitTokenHome, lockToken } from '../../rows/git-tokens/git-token-store.ts';
import { gitTokenRoutes } from './git-token-routes.ts';

export const family: Family = {
  name: 'git-tokens',
  routes: gitTokenRoutes,
  entities: { gitToken: gitTokenHome },
  locks: { gitToken: lockToken },
  tables: ['git_token'],
};

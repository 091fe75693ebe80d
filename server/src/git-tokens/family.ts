/** Tokens for repositories and registries. */
import type { Family } from '../family.ts';
import { gitTokenRoutes } from './git-token-routes.ts';
import { gitTokenHome, lockToken } from './git-token-store.ts';

export const family: Family = {
  name: 'git-tokens',
  routes: gitTokenRoutes,
  entities: { gitToken: gitTokenHome },
  locks: { gitToken: lockToken },
  tables: ['git_token'],
};

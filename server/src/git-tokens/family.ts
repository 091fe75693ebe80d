/** Tokens for repositories and registries. */
import type { Family } from '../family.ts';
import { gitTokenRoutes } from './git-token-routes.ts';
import { gitTokenHome } from './git-token-store.ts';

export const family: Family = {
  name: 'git-tokens',
  routes: gitTokenRoutes,
  entities: { gitToken: gitTokenHome },
  tables: ['git_token'],
};

/** Connections to self-hosted forges. */
import type { Family } from '../../framework/family.ts';
import { connectionHome, lockConnection } from '../../rows/vcs-connections/vcs-connection-store.ts';
import { vcsConnectionRoutes } from './vcs-connection-routes.ts';

export const family: Family = {
  name: 'vcs-connections',
  routes: vcsConnectionRoutes,
  entities: { vcsConnection: connectionHome },
  locks: { vcsConnection: lockConnection },
  tables: ['vcs_connection'],
};

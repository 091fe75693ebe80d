/** State versions, who may read and change them, and the http protocol of the tools. */
import type { Family } from '../family.ts';
import { stateProtocolRoutes } from './state-protocol.ts';
import { stateRoutes } from './state-routes.ts';
import { stateVersionHome } from './state-store.ts';

export const family: Family = {
  name: 'state',
  routes: stateRoutes,
  plugin: stateProtocolRoutes,
  entities: { stateVersion: stateVersionHome },
  tables: ['state_version', 'state_lock', 'state_access'],
};

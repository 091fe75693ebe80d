/** State versions, who may read and change them, and the http protocol of the tools. */
import type { Family } from '../../framework/family.ts';
import { lockStateVersion, stateVersionHome } from '../../rows/state/state-store.ts';
import { leaveStates } from './leave-states.ts';
import { stateProtocolRoutes } from './state-protocol.ts';
import { stateRoutes } from './state-routes.ts';
import { removeOldVersions, sweepEverySeconds } from './sweep-versions.ts';

export const family: Family = {
  name: 'state',
  routes: stateRoutes,
  plugin: stateProtocolRoutes,
  loops: [{ name: 'old state versions', everySeconds: sweepEverySeconds, pass: removeOldVersions }],
  reactions: { toolChanging: [leaveStates] },
  entities: { stateVersion: stateVersionHome },
  locks: { stateVersion: lockStateVersion },
  tables: ['state_version', 'state_lock', 'state_access'],
};

/** SSH keys that runs read repositories with. */
import type { Family } from '../../framework/family.ts';
import { lockKey, sshKeyHome } from '../../rows/ssh-keys/ssh-key-store.ts';
import { sshKeyRoutes } from './ssh-key-routes.ts';

export const family: Family = {
  name: 'ssh-keys',
  routes: sshKeyRoutes,
  entities: { sshKey: sshKeyHome },
  locks: { sshKey: lockKey },
  tables: ['ssh_key'],
};

/** Records of the registry: modules, providers, and the keys that sign providers. */
import type { Family } from '../../framework/family.ts';
import { lockModule, moduleHome } from '../../rows/registry/module-store.ts';
import { gpgKeyHome, lockProvider, providerHome } from '../../rows/registry/provider-store.ts';
import { moduleRoutes } from './module-routes.ts';
import { providerRoutes } from './provider-routes.ts';

export const family: Family = {
  name: 'registry',
  routes: [...moduleRoutes, ...providerRoutes],
  entities: { module: moduleHome, provider: providerHome, gpgKey: gpgKeyHome },
  locks: { module: lockModule, provider: lockProvider },
  tables: ['registry_module', 'registry_provider', 'gpg_key'],
};

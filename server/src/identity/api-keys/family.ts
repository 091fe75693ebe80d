/** Keys of organizations and of people, as what they manage. */
import type { Family } from '../../framework/family.ts';
import { apiKeyHome, lockApiKey } from '../../rows/users/api-key-store.ts';
import { apiKeyRoutes } from './api-key-routes.ts';
import { personalApiKeyRoutes } from './personal-api-key-routes.ts';

export const family: Family = {
  name: 'api-keys',
  routes: [...apiKeyRoutes, ...personalApiKeyRoutes],
  entities: { apiKey: apiKeyHome },
  locks: { apiKey: lockApiKey },
};

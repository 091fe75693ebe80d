/** Repositories as far as the service reads them itself. */
import type { Family } from '../../framework/family.ts';
import { repositoryRoutes } from './repository-routes.ts';

export const family: Family = { name: 'repositories', routes: repositoryRoutes };

/** Projects and their tree. */
import type { Family } from '../family.ts';
import { projectRoutes } from './project-routes.ts';
import { projectHome } from './project-store.ts';

export const family: Family = {
  name: 'projects',
  routes: projectRoutes,
  entities: { project: projectHome },
  tables: ['project'],
};

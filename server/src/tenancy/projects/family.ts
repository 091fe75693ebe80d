/** Projects and their tree. */
import type { Family } from '../../framework/family.ts';
import { projectHome } from '../../rows/projects/project-store.ts';
import { lockProject } from './archive-project.ts';
import { projectRoutes } from './project-routes.ts';

export const family: Family = {
  name: 'projects',
  routes: projectRoutes,
  entities: { project: projectHome },
  locks: { project: lockProject },
  tables: ['project'],
};

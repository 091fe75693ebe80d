/** Variables of every scope. */
import type { Family } from '../../framework/family.ts';
import { variableHome } from './find-home.ts';
import { variableRoutes } from './variable-routes.ts';
import { lockVariableRow } from '../../rows/variables/variable-store.ts';

export const family: Family = {
  name: 'variables',
  routes: variableRoutes,
  entities: { variable: variableHome },
  locks: { variable: lockVariableRow },
  tables: ['variable'],
};

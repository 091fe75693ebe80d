/** Variables of every scope. */
import type { Family } from '../../framework/family.ts';
import { lockVariableRow } from '../../rows/variables/variable-store.ts';
import { variableHome } from './find-home.ts';
import { variableRoutes } from './variable-routes.ts';

export const family: Family = {
  name: 'variables',
  routes: variableRoutes,
  entities: { variable: variableHome },
  locks: { variable: lockVariableRow },
  tables: ['variable'],
};

/** The web interface: the built files of the room `web/`. */
import type { Family } from '../../framework/family.ts';
import { webRoutes } from './web-routes.ts';

export const family: Family = { name: 'web', plugin: webRoutes };

/** Operations of MCP servers, on top of the families that they are about. */
import type { Family } from '../../framework/family.ts';
import { mcpRoutes } from './mcp-routes.ts';

export const family: Family = { name: 'mcp', routes: mcpRoutes };

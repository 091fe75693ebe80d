/** What MCP servers read and do, on top of the families that it is about. */
import type { Family } from '../../framework/family.ts';
import { mcpRoutes } from './mcp-routes.ts';

export const family: Family = { name: 'mcp', routes: mcpRoutes };

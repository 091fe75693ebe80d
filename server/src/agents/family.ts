/** Agents and their secrets. */
import type { Family } from '../family.ts';
import { agentFamilyRoutes } from './agent-routes.ts';
import { agentHome } from './agent-store.ts';

export const family: Family = {
  name: 'agents',
  routes: agentFamilyRoutes,
  entities: { agent: agentHome },
  tables: ['agent', 'agent_secret', 'agent_process'],
};

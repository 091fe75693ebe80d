/** Agents and their secrets. */
import type { Family } from '../family.ts';
import { agentFamilyRoutes } from './agent-routes.ts';
import { agentHome } from './agent-store.ts';
import { watchContact, watchEverySeconds } from './watch-contact.ts';

export const family: Family = {
  name: 'agents',
  routes: agentFamilyRoutes,
  loops: [{ name: 'contact of agents', everySeconds: watchEverySeconds, pass: watchContact }],
  entities: { agent: agentHome },
  tables: ['agent', 'agent_secret', 'agent_process'],
};

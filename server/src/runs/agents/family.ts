/** Agents and their secrets. */
import type { Family } from '../../framework/family.ts';
import { agentHome, lockAgent } from '../../rows/agents/agent-store.ts';
import { agentFamilyRoutes } from './agent-routes.ts';
import { agentSecretRoutes } from './agent-secrets.ts';
import { projectAgentRoutes } from './project-agents.ts';
import { watchContact, watchEverySeconds } from './watch-contact.ts';

export const family: Family = {
  name: 'agents',
  routes: [...projectAgentRoutes, ...agentFamilyRoutes, ...agentSecretRoutes],
  loops: [{ name: 'contact of agents', everySeconds: watchEverySeconds, pass: watchContact }],
  entities: { agent: agentHome },
  locks: { agent: lockAgent },
  tables: ['agent', 'agent_secret', 'agent_process', 'project_agent', 'default_agent'],
};

/** What columns hold that are JSON to the database. */
import type { AgentIsolation } from '#contract/agents/shapes.ts';

export interface Columns {
  'agent_process.isolation': AgentIsolation;
}

/** JSON types of columns. */
import type { AgentIsolation, AgentLogs } from '#contract/agents/shapes.ts';

export interface Columns {
  'agent.logs': AgentLogs;
  'agent_process.isolation': AgentIsolation;
}

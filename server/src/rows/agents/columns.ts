/** JSON types of columns. */
import type { AgentIsolation, AgentLogs } from '#contract/agents/shapes.ts';
import type { StoredCondition } from '#protocol/messages/agent.ts';

export interface Columns {
  'agent.logs': AgentLogs;
  'agent_process.condition': StoredCondition;
  'agent_process.isolation': AgentIsolation;
}

/** The settings of agents, sent with each heartbeat. */
import type { AgentTimings } from '#protocol/messages/agent.ts';
import type { ServerSettings } from '../../ground/config/config.ts';

export function agentSettings(settings: ServerSettings): AgentTimings {
  return {
    heartbeatSeconds: settings.heartbeatSeconds,
    offlineGraceSeconds: settings.offlineGraceSeconds,
    abortSeconds: settings.abortSeconds,
  };
}

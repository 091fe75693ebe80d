/** The settings of agents, sent with each heartbeat. */
import type { AgentSettings } from '#protocol/messages/agent.ts';
import type { ServerSettings } from '../../ground/config/config.ts';

export function agentSettings(settings: ServerSettings): AgentSettings {
  return {
    heartbeatSeconds: settings.heartbeatSeconds,
    offlineGraceSeconds: settings.offlineGraceSeconds,
    abortSeconds: settings.abortSeconds,
  };
}

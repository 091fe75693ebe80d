/** The agent's settings for cost estimates. */
import type { AgentSettings } from '#settings/settings.ts';

/** The agent's settings for estimates, as part of a runner's order. */
export interface CostOrder {
  readonly apiKey?: string;
  readonly endpoint?: string;
  readonly seconds: number;
}

/** Reads the agent's settings. */
export function costOrder({
  infracostApiKey,
  infracostEndpoint,
  infracostSeconds,
}: Pick<AgentSettings, 'infracostApiKey' | 'infracostEndpoint' | 'infracostSeconds'>): {
  readonly order: CostOrder;
  /** Values that must not appear in any log. */
  readonly secrets: readonly string[];
} {
  const apiKey = infracostApiKey?.reveal();
  return {
    order: {
      seconds: infracostSeconds,
      ...(apiKey === undefined ? {} : { apiKey }),
      ...(infracostEndpoint === undefined ? {} : { endpoint: infracostEndpoint }),
    },
    secrets: apiKey === undefined ? [] : [apiKey],
  };
}

/** Where prices come from, and with which key: of the run, or of the agent. */
import type { Job } from '#protocol/messages/job.ts';
import { runEnvironment } from '#protocol/run-environment.ts';
import { sharedSettings } from '#settings/server-and-agent.ts';
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

/** Variables of runs, as people who use infracost by hand know them. */
const pricingVariables = {
  key: 'INFRACOST_API_KEY',
  endpoint: 'INFRACOST_PRICING_API_ENDPOINT',
  currency: 'INFRACOST_CURRENCY',
} as const;

export interface Pricing {
  readonly key: string;
  /** Absent: that of Infracost. */
  readonly endpoint?: string;
  readonly currency?: string;
}

/** A pricing service of one's own may need no key, and the program demands one all the same. */
const anyKey = 'none';

function isAddress(text: string): boolean {
  return ['http:', 'https:'].includes(URL.parse(text)?.protocol ?? '');
}

/**
 * The key of the agent goes only to the address that the agent is set to.
 * @returns a text for a person where there is no way to get prices
 */
export function pricingOf(
  job: Pick<Job, 'variables' | 'systemVariables'>,
  order: CostOrder,
): Pricing | string {
  const environment = runEnvironment(job);
  const own = (name: string) => environment[name]?.trim() || undefined;
  const [ownKey, ownEndpoint, currency] = [
    own(pricingVariables.key),
    own(pricingVariables.endpoint)?.replace(/\/+$/, ''),
    own(pricingVariables.currency),
  ];
  if (ownEndpoint !== undefined && !isAddress(ownEndpoint))
    return `the variable ${pricingVariables.endpoint} must be an http:// or https:// address`;
  if (currency !== undefined && !/^[A-Z]{3}$/.test(currency))
    return `the variable ${pricingVariables.currency} must be the code of a currency, such as EUR`;
  const endpoint = ownEndpoint ?? order.endpoint;
  const agentKey = endpoint === order.endpoint ? order.apiKey : undefined;
  const key = ownKey ?? agentKey ?? (endpoint === undefined ? undefined : anyKey);
  if (key === undefined)
    return `there is no key for the prices: set the variable ${pricingVariables.key} of the run, or ${sharedSettings.infracostApiKey.name} of the agent`;
  return {
    key,
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(currency === undefined ? {} : { currency }),
  };
}

/** For stories about costs: what a service needs so that its runs plan machines of a cloud, which have prices. */
import { mkdir } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import type { TestContext } from 'node:test';
import { terraformThatShows } from '../agent/testing/costs/plan-of-machines.ts';
import { type PricingService, startPricingService } from '../agent/testing/costs/pricing-service.ts';
import { pathWith, toolboxProgram, withToolbox } from '../tools/toolbox/places.ts';
import { terraform, withoutTerraform } from './programs.ts';
import { removeScratch, scratchFolder } from './service.ts';

/** Why such stories are left out, or false. */
export const withoutPrices: string | false = withToolbox('infracost').skip || withoutTerraform;

export interface PricedMachines {
  readonly prices: PricingService;
  /** Of the service, for its built-in agent. */
  readonly settings: Readonly<Record<string, string>>;
}

/** @param apiKey what the agent sends to the pricing service */
export async function startPricedMachines(t: TestContext, apiKey: string): Promise<PricedMachines> {
  const prices = await startPricingService(t);
  const folder = await scratchFolder();
  t.after(() => removeScratch(folder));
  const programs = join(folder, 'programs');
  await mkdir(programs, { mode: 0o755 });
  terraformThatShows(programs, terraform ?? '');
  const infracost = toolboxProgram('infracost');
  return {
    prices,
    settings: {
      PATH: [programs, pathWith(infracost)].join(delimiter),
      ENVARIUM_ISOLATION_PATHS: [folder, infracost ?? ''].join(','),
      ENVARIUM_INFRACOST_API_KEY: apiKey,
      ENVARIUM_INFRACOST_PRICING_ENDPOINT: prices.url,
    },
  };
}

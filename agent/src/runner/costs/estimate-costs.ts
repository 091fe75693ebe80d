/** The step that estimates what a plan costs. Whatever happens in it, the run continues. */
import { randomUUID } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { CostEstimation } from '#contract/deployments/plan.ts';
import { infracost } from '#protocol/tools/programs/infracost.ts';
import { costStep } from '#protocol/tools/steps.ts';
import { sharedSettings } from '#settings/server-and-agent.ts';
import type { AttemptContext } from '../../attempt/attempt-context.ts';
import { type CommandEnd, endRest, runCommand, sizeOf } from '../../attempt/run-command.ts';
import { ForgoneStep } from '../../attempt/step-recorder.ts';
import type { PlanToEstimate } from '../../drivers/interface/capabilities.ts';
import type { PhaseCaptures } from '../../drivers/interface/command.ts';
import { cutMasked } from '../../logs/mask.ts';
import type { OutcomeFacts } from '../../processes/failure.ts';
import { signalQuietly } from '../../processes/proc.ts';
import { toolPath } from '../../processes/programs.ts';
import { stopped } from '../../processes/stop-watch.ts';
import type { RunnerAttempt } from '../commands/runner-attempt.ts';
import type { Configuration } from '../configuration/configuration.ts';
import { resolveProgram } from '../tool/resolve-tool.ts';
import type { CostOrder } from './cost-order.ts';
import { estimateInWords, projectName, readEstimate } from './read-estimate.ts';

const label = `${infracost.name} breakdown`;
const configurationFile = 'costs.yml';
const timeSetting = sharedSettings.infracostSeconds.name;
const defaultOrder: CostOrder = { seconds: 60 };
/** Of all plans together, and of what is printed. */
const mostPlanBytes = 200_000_000;
const mostPrintedBytes = 100_000_000;

/**
 * Estimates the costs of a plan if the job asks for it.
 * @param captures of the commands that planned
 * @returns nothing if it cannot be done: the step says why
 * @throws RunFailure only if the run is stopped
 */
export async function estimateCosts(
  attempt: RunnerAttempt,
  { context }: Configuration,
  captures: PhaseCaptures,
): Promise<Pick<OutcomeFacts, 'costEstimation'>> {
  if (attempt.job.estimatesCosts !== true) return {};
  const costEstimation = await attempt.steps.runOptional(costStep, async () => {
    const plans = attempt.driver.costs?.plans(context, captures) ?? [];
    if (plans.length === 0) throw new ForgoneStep('SKIPPED', 'there is no plan to estimate');
    return estimate(attempt, plans);
  });
  return costEstimation === null ? {} : { costEstimation };
}

async function estimate(attempt: RunnerAttempt, plans: readonly PlanToEstimate[]): Promise<CostEstimation> {
  const pricing = pricingOf(attempt.environment, attempt.order.costs ?? defaultOrder);
  const program = await findProgram(attempt);
  await endRest(attempt);
  const bytes = plans.reduce((all, { json }) => all + json.length, 0);
  if (bytes > mostPlanBytes)
    throw new ForgoneStep(
      'SKIPPED',
      `the plan has ${Math.floor(bytes / 1e6)} MB, and at most ${mostPlanBytes / 1e6} MB are read`,
    );
  const folder = `costs-${randomUUID()}`;
  try {
    const printed = await breakdown(attempt, { program, pricing, folder, plans });
    const read = readEstimate(
      printed,
      plans.map(({ unit }) => unit),
      (text, most) => cutMasked(text, most, attempt.job.secrets),
    );
    attempt.steps.log(costStep, estimateInWords(read));
    return read;
  } finally {
    await attempt.tree.remove(attempt.folders.temporary, folder).catch(() => undefined);
  }
}

/** Variables of runs, as people who use infracost by hand know them. */
const pricingVariables = {
  key: 'INFRACOST_API_KEY',
  endpoint: 'INFRACOST_PRICING_API_ENDPOINT',
  currency: 'INFRACOST_CURRENCY',
} as const;

interface Pricing {
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
 * @throws ForgoneStep where there is no way to get prices
 */
function pricingOf(environment: AttemptContext['environment'], order: CostOrder): Pricing {
  const own = (name: string) => environment[name]?.trim() || undefined;
  const [ownKey, ownEndpoint, currency] = [
    own(pricingVariables.key),
    own(pricingVariables.endpoint)?.replace(/\/+$/, ''),
    own(pricingVariables.currency),
  ];
  if (ownEndpoint !== undefined && !isAddress(ownEndpoint))
    throw new ForgoneStep(
      'SKIPPED',
      `the variable ${pricingVariables.endpoint} must be an http:// or https:// address`,
    );
  if (currency !== undefined && !/^[A-Z]{3}$/.test(currency))
    throw new ForgoneStep(
      'SKIPPED',
      `the variable ${pricingVariables.currency} must be the code of a currency, such as EUR`,
    );
  const endpoint = ownEndpoint ?? order.endpoint;
  const agentKey = endpoint === order.endpoint ? order.apiKey : undefined;
  const key = ownKey ?? agentKey ?? (endpoint === undefined ? undefined : anyKey);
  if (key === undefined)
    throw new ForgoneStep(
      'SKIPPED',
      `there is no key for the prices: set the variable ${pricingVariables.key} of the run, or ${sharedSettings.infracostApiKey.name} of the agent`,
    );
  return {
    key,
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(currency === undefined ? {} : { currency }),
  };
}

/** @throws ForgoneStep if the program is nowhere, and a RunFailure if the run is stopped */
async function findProgram(attempt: RunnerAttempt): Promise<string> {
  try {
    return (await resolveProgram(attempt, costStep, infracost, {})).path;
  } catch (error) {
    attempt.stop.throwIfStopped();
    throw new ForgoneStep('SKIPPED', (error as Error).message);
  }
}

interface Estimating {
  readonly program: string;
  readonly pricing: Pricing;
  /** Name of an own folder in the folder for temporary files. */
  readonly folder: string;
  readonly plans: readonly PlanToEstimate[];
}

/** Writes what the program reads, into folders of its own. */
async function writePlans(
  { tree, folders }: RunnerAttempt,
  { folder, plans }: Pick<Estimating, 'folder' | 'plans'>,
): Promise<void> {
  const nameOf = (index: number) => join(folder, 'plans', `${projectName(index)}.json`);
  for (const [index, { json }] of plans.entries()) await tree.write(folders.temporary, nameOf(index), json);
  const projects = plans.map((_, index) => ({
    name: projectName(index),
    path: join(folders.temporary, nameOf(index)),
  }));
  // JSON is YAML, too.
  const text = JSON.stringify({ version: '0.1', projects });
  await tree.write(folders.temporary, join(folder, 'work', configurationFile), text);
}

/** @returns what the program printed */
async function breakdown(attempt: RunnerAttempt, estimating: Estimating): Promise<string> {
  const { folders, order } = attempt;
  const { program, pricing, folder } = estimating;
  await writePlans(attempt, estimating);
  const place = join(folders.temporary, folder);
  const captureTo = attempt.spool.scratchFile('costs.json');
  const { seconds } = order.costs ?? defaultOrder;
  const caFile = order.network?.caFile;
  const limit = timeLimit(seconds);
  const environment = environmentOf(attempt, pricing, place);
  const end = await runCommand(attempt, {
    step: costStep,
    label,
    name: infracost.name,
    program,
    args: [
      'breakdown',
      ...['--config-file', configurationFile],
      ...['--format', 'json', '--log-level', 'warn', '--no-color'],
    ],
    cwd: join(place, 'work'),
    environment,
    captureTo,
    isDisposable: true,
    needsNetwork: true,
    ...(caFile === undefined ? {} : { readable: [caFile] }),
    onStart: limit.watch,
  }).finally(limit.end);
  try {
    if (end.stop !== null) throw stopped(end.stop);
    if (limit.isReached()) throw failed(end, `took longer than ${seconds} seconds (setting ${timeSetting})`);
    if (end.exitCode !== 0)
      throw failed(
        end,
        `ended with ${end.exitCode === null ? `signal ${end.signal}` : `exit code ${end.exitCode}`}`,
      );
    if (sizeOf(captureTo) > mostPrintedBytes) throw failed(end, 'printed more than can be read');
    return readFileSync(captureTo, 'utf8');
  } finally {
    rmSync(captureTo, { force: true });
  }
}

/** @param how completes "infracost" */
function failed(end: CommandEnd, how: string): ForgoneStep {
  return new ForgoneStep('WARNING', `${infracost.name} ${how}${cause(end)}`);
}

/**
 * Nothing of the run but what prices need. The program is kept from reading other settings, from looking for updates,
 * from its makers' dashboard, and from reporting what it does: only this mode (`INFRACOST_ENV`) sends no reports.
 */
function environmentOf(
  { order }: RunnerAttempt,
  { key, endpoint, currency }: Pricing,
  place: string,
): Record<string, string> {
  return {
    PATH: toolPath,
    HOME: join(place, 'work'),
    TMPDIR: dirname(place),
    LANG: 'C.UTF-8',
    ...order.network?.environment,
    INFRACOST_ENV: 'test',
    INFRACOST_SKIP_UPDATE_CHECK: 'true',
    INFRACOST_ENABLE_CLOUD: 'false',
    INFRACOST_ENABLE_CLOUD_UPLOAD: 'false',
    INFRACOST_DISABLE_ENVFILE: 'true',
    INFRACOST_PRICING_CACHE_DISABLED: 'true',
    INFRACOST_API_KEY: key,
    ...(endpoint === undefined ? {} : { INFRACOST_PRICING_API_ENDPOINT: endpoint }),
    ...(currency === undefined ? {} : { INFRACOST_CURRENCY: currency }),
  };
}

/** Ends a command that takes too long. */
function timeLimit(seconds: number) {
  let isReached = false;
  let timer: NodeJS.Timeout | undefined;
  return {
    watch: (child: { readonly pid?: number | undefined }) => {
      timer = setTimeout(() => {
        isReached = true;
        if (child.pid !== undefined) signalQuietly(-child.pid, 'SIGKILL');
      }, seconds * 1000);
    },
    end: () => clearTimeout(timer),
    isReached: () => isReached,
  };
}

/** The last error that the program printed, as the end of a sentence. */
function cause(end: CommandEnd): string {
  const lines = end.output().split('\n');
  const last = lines.findLast((line) => /^(error|fatal)\b/i.test(line));
  const text = last
    ?.replace(/^(error|fatal)\b:?\s*/i, '')
    .replaceAll(/\s+/g, ' ')
    .slice(0, 300)
    .trim();
  return text ? `: ${text}` : '';
}

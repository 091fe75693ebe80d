/**
 * The agent itself: settings, a lock on the spool, the loops, and a shutdown that does not affect running
 * deployments.
 */
import { setMaxListeners } from 'node:events';
import { writeSync } from 'node:fs';
import { join } from 'node:path';
import { type Logger, pino } from 'pino';
import { FolderLockedError } from '#guards/folder-lock.ts';
import { agentSettings } from '#settings/agent.ts';
import type { Secret } from '#settings/secret.ts';
import { type AgentSettings, readProgramSettings, SettingsError } from '#settings/settings.ts';
import { Agent } from './agent.ts';
import { MemoryForRuns } from './capacity.ts';
import { confineRuns, runLimitsOf } from './confine-runs.ts';
import { connectToServer } from './connection/connection.ts';
import { ServerRefusal } from './connection/refusals.ts';
import { credentialDeliverer } from './credentials/deliver-credentials.ts';
import { drivers } from './drivers/index.ts';
import { createServerContact } from './held/server-contact.ts';
import { ProcessLauncher } from './launchers/process.ts';
import { prepareNetwork } from './network/network-order.ts';
import { version } from './own/version.ts';
import { prepareProviders } from './providers/prepare-providers.ts';
import { costOrder } from './runner/costs/cost-order.ts';
import { referenceResolver } from './secret-references/resolve-references.ts';
import { KeptTrees } from './slots/kept-trees.ts';
import { makeWorkFolder } from './slots/make-work-folder.ts';
import { openSpool, type Spool } from './spool/open-spool.ts';
import { type AvailableTools, findAvailableTools, toolPathsFor } from './toolchain/available-tools.ts';
import type { ToolchainOrder } from './toolchain/tool-mirror.ts';
import { prepareToolchain } from './toolchain/toolchain-order.ts';

/** A built-in agent takes over from that of the previous service process, which is shutting down. */
const takeOverMilliseconds = 15_000;

interface Server {
  readonly urls: readonly string[];
  readonly key: string;
  readonly secret: Secret;
}

async function main(): Promise<void> {
  const settings = readProgramSettings(agentSettings, process.env);
  const server = requireServer(settings);
  const log = openLog(settings);
  const stop = new AbortController();
  const drain = new AbortController();
  setMaxListeners(0, stop.signal);
  stopOnRequest(stop, drain, settings);
  await using spool = await openSpool(
    settings.spoolFolder,
    settings.endsWithStdin ? takeOverMilliseconds : 0,
  );
  const workFolder = makeWorkFolder(settings.workFolder, spool.folder);
  const network = prepareNetwork(settings.caFile, process.env, workFolder);
  const providers = await prepareProviders(settings, workFolder);
  const toolchain = prepareToolchain(settings, workFolder);
  const costs = costOrder(settings);
  const parts = { providers, network, toolchain, costs };
  const contact = createServerContact(() => agent.heldPaths());
  const connection = connectToServer({
    urls: server.urls,
    agentKey: server.key,
    agentSecret: server.secret,
    log,
    onContact: () => contact.touch(),
    onReplaced: (refusal) => stop.abort(refusal),
  });
  const { types: tools, missing: missingPrograms } = await findTools(toolchain.order, log);
  const { slots, isolation, groups, keptTrees, report } = await confineRuns(settings, spool, log);
  using launcher = new ProcessLauncher({
    logFile: spool.runnerLog,
    compileCacheFolder: process.env.NODE_COMPILE_CACHE ?? spool.compileCacheFolder,
    onFailure: (reason) => log.error({ reason }, 'runner ended before it got work'),
    spareMilliseconds: 15_000,
    groups,
    preparation: report.hasOwnUsers ? { runs: { isolation, workFolder } } : undefined,
  });
  const agent = new Agent({
    connection,
    spool,
    slots,
    keptTrees: new KeptTrees({ ...keptTrees, workFolder, spoolId: spool.id, slots, log }),
    ...failureOptions(settings, workFolder, spool, log),
    launcher,
    workFolder,
    version,
    tools,
    missingPrograms,
    memory: new MemoryForRuns(settings.memoryPerRunMegabytes),
    drain: drain.signal,
    isolation: report,
    toolPaths: toolPathsFor,
    runOrder: { isolation, ...orderOf(settings, workFolder, parts) },
    ...secretOptions(settings, workFolder, Object.values(parts)),
    log,
    signal: stop.signal,
  });
  await work(agent, stop.signal);
  await agent.goodbye();
}

interface OrderParts {
  readonly providers: Awaited<ReturnType<typeof prepareProviders>>;
  readonly network: ReturnType<typeof prepareNetwork>;
  readonly toolchain: ReturnType<typeof prepareToolchain>;
  readonly costs: ReturnType<typeof costOrder>;
}

/** The part of every order that the agent's settings determine. */
function orderOf(
  settings: AgentSettings,
  workFolder: string,
  { providers, network, toolchain, costs }: OrderParts,
) {
  return {
    runLimits: runLimitsOf(settings),
    providers: providers.order,
    network: network.order,
    toolchain: toolchain.order,
    costs: costs.order,
    ...(settings.reuseInit ? { reuseFolder: join(workFolder, '.reuse') } : {}),
  };
}

function failureOptions(settings: AgentSettings, workFolder: string, spool: Spool, log: Logger) {
  const { keptFailures: limit, keptFailureDays: days, reportPatienceSeconds: patienceSeconds } = settings;
  return { patienceSeconds, keptFailures: { workFolder, spoolFolder: spool.folder, limit, days, log } };
}

/** Texts to mask in the output of runs, and their sources. */
function secretOptions(
  settings: AgentSettings,
  workFolder: string,
  parts: readonly { readonly secrets: readonly string[] }[],
) {
  return {
    secrets: parts.flatMap(({ secrets }) => secrets),
    resolveReferences: referenceResolver({ settings, environment: process.env }),
    deliverCredentials: credentialDeliverer({
      workFolder,
      privateHosts: new Set(settings.credentialPrivateHosts),
      mayUseOwnIdentity: settings.awsOwnIdentity,
      mayStartPrograms: settings.kubeconfigPrograms,
      ownCluster: settings.kubernetesOwnIdentity ? { environment: process.env } : undefined,
      addresses: { azureManagement: settings.azureManagementAddress, gke: settings.gkeAddress },
    }),
  };
}

/** @throws a ServerRefusal if the server does not accept this agent */
async function work(agent: Agent, signal: AbortSignal): Promise<void> {
  try {
    await agent.run();
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  if (signal.reason instanceof ServerRefusal) throw signal.reason;
}

async function findTools(order: ToolchainOrder, log: Logger): Promise<AvailableTools> {
  const found = await findAvailableTools(drivers, order);
  const { missing } = found;
  if (missing.length > 0)
    log.warn(
      { missing },
      'programs are neither on the PATH nor can be fetched; runs that need them will fail',
    );
  return found;
}

function openLog(settings: AgentSettings): Logger {
  const destination = pino.destination({ dest: 2, sync: true });
  // The reader of the log may end before the agent, which must continue.
  destination.on('error', () => {});
  return pino({ level: settings.logLevel, base: { program: 'agent' } }, destination);
}

function requireServer(settings: AgentSettings): Server {
  const { serverUrls, agentKey, agentSecret } = settings;
  const missing = [
    serverUrls === undefined ? 'ENVARIUM_URL is not set; specify the address of the service.' : '',
    agentKey === undefined ? "ENVARIUM_AGENT_KEY is not set; specify the id of the agent's key." : '',
    agentSecret === undefined
      ? "ENVARIUM_AGENT_SECRET_FILE is not set; specify the file with the secret of the agent's key."
      : '',
  ].filter((problem) => problem !== '');
  if (serverUrls === undefined || agentKey === undefined || agentSecret === undefined)
    throw new SettingsError(missing);
  return { urls: serverUrls, key: agentKey, secret: agentSecret };
}

/** A second request ends a drain. A built-in agent ends with its service. */
function stopOnRequest(
  stop: AbortController,
  drain: AbortController,
  { endsWithStdin, drainSeconds }: AgentSettings,
): void {
  const end = () => {
    if (endsWithStdin || drainSeconds === 0 || drain.signal.aborted) return stop.abort();
    drain.abort();
    setTimeout(() => stop.abort(), drainSeconds * 1000).unref();
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, end);
  if (!endsWithStdin) return;
  for (const event of ['end', 'close', 'error'] as const) process.stdin.on(event, () => stop.abort());
  process.stdin.resume();
}

/** The message for people, instead of a stack. */
function explain(error: unknown): string {
  if (error instanceof SettingsError || error instanceof FolderLockedError) return error.message;
  if (error instanceof ServerRefusal) return `${error.message}\nThis agent ends; its runs continue.`;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** Runs until a signal or a refusal of the service, and ends the process. */
export async function runAgent(): Promise<never> {
  try {
    await main();
    process.exit(0);
  } catch (error) {
    const reason = `${explain(error)}\n`;
    process.stderr.write(reason);
    // A service reads why its built-in agent ends.
    if (process.env.ENVARIUM_AGENT_ENDS_WITH_STDIN === 'true') writeSync(1, reason);
    process.exit(1);
  }
}

/**
 * A service with its built-in agent and another agent, on one machine. What ends is started again, as an operator's
 * supervisor does; `kill` makes things end.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Client, createClient } from '#contract/client/client.ts';
import { slotUidBase } from '../../tools/programs/slot-uid-base.ts';
import { freePort } from '../../tools/suite/free-port.ts';
import { toolboxFolder } from '../../tools/toolbox/places.ts';
import type { FamilyTool } from '../family-tools.ts';
import {
  anotherBoot,
  attemptsIn,
  databasePid,
  descendantsOf,
  killTogether,
  type ProcessRow,
  processesOf,
  programOf,
  sendSignal,
} from '../recovery/processes.ts';
import { until } from '../runs.ts';
import { type RunningService, removeScratch, scratchFolder, startService } from '../service.ts';
import type { Random } from './random.ts';

const run = promisify(execFile);
const launcher = fileURLToPath(new URL('../../tools/launch.mjs', import.meta.url));
const pauseMilliseconds = 100;
/** More starts than this in a row do not fail because of kills alone. */
const tolerableFailures = 4;

/** Targets of kills, and how often each is chosen compared with the others. */
export const victims = {
  server: 3,
  agent: 3,
  runner: 4,
  tool: 4,
  git: 1,
  database: 2,
  machine: 1,
} as const satisfies Readonly<Record<string, number>>;
export type ChaosVictim = keyof typeof victims;

/** Processes that a kill can have ended besides its target. */
export interface Kill {
  readonly victim: ChaosVictim;
  readonly at: number;
  /** Of the run that was hit; "all": of every run; null: of none, because runs outlive it. */
  readonly environmentId: string | null;
}

export class Installation implements AsyncDisposable {
  readonly folder: string;
  readonly client: Client;
  readonly problems: string[] = [];
  readonly #settings: Readonly<Record<string, string>>;
  readonly #url: string;
  #around: readonly string[] = [];
  #isClosing = false;
  #isDown = false;
  #service: RunningService | null = null;
  #agentSettings: Readonly<Record<string, string>> | null = null;
  #agent: ChildProcess | null = null;
  #supervised: Promise<void>[] = [];

  private constructor(folder: string, url: string, settings: Readonly<Record<string, string>>) {
    this.folder = folder;
    this.#url = url;
    this.#settings = settings;
    this.client = createClient({ url, key: 'acceptance', secret: settings.ENVARIUM_BOOTSTRAP_API_SECRET! });
  }

  /** @param slots how many runs each of the two agents executes at once */
  static async start(tools: readonly FamilyTool[], slots: number): Promise<Installation> {
    const folder = await scratchFolder();
    const port = await freePort();
    const installation = new Installation(folder, `http://127.0.0.1:${port}`, {
      PATH: [...tools.map(({ file }) => dirname(file)), process.env.PATH].join(delimiter),
      ENVARIUM_PORT: String(port),
      ENVARIUM_WORK_DIR: join(folder, 'work'),
      ENVARIUM_BOOTSTRAP_API_SECRET: 'c'.repeat(43),
      ENVARIUM_AGENT_CONCURRENCY: String(slots),
      ENVARIUM_HEARTBEAT_SECONDS: '1',
      ENVARIUM_ABORT_SECONDS: '10',
      ENVARIUM_RATE_LIMIT: '0',
      ENVARIUM_LOG_LEVEL: 'warn',
    });
    try {
      // Building the programs takes time, which does not count as that of a start.
      await run(process.execPath, [launcher, 'cli/src/main.ts', '--version']);
      const first = await installation.#startService();
      await installation.#addAgent(slots);
      installation.#supervised = [installation.#keepService(first), installation.#keepAgent()];
    } catch (error) {
      await installation[Symbol.asyncDispose]();
      throw error;
    }
    return installation;
  }

  /** The spool folders of the two agents. */
  get spools(): readonly string[] {
    return [join(this.folder, 'data', 'spool'), this.#agentSpool];
  }

  get workFolder(): string {
    return join(this.folder, 'work');
  }

  get #agentSpool(): string {
    return join(this.folder, 'agent');
  }

  /** Everything that the service and the agent have logged since their last start, for a person. */
  log(): string {
    return this.#service?.log() ?? '';
  }

  /** @returns null if there is nothing of that kind right now */
  async kill(victim: ChaosVictim, random: Random): Promise<Kill | null> {
    const hit = await this.#hit(victim, random);
    return hit === undefined ? null : { victim, at: Date.now(), environmentId: hit };
  }

  /** @returns whose run was hit; undefined: nothing was */
  async #hit(victim: ChaosVictim, random: Random): Promise<Kill['environmentId'] | undefined> {
    // Sometimes, an operator ends it.
    const signal = random.chance(0.25) ? 'SIGTERM' : 'SIGKILL';
    switch (victim) {
      case 'server':
        return this.#end(await this.#serverPid(), signal);
      case 'agent':
        return this.#end(random.chance(0.5) ? await this.#builtInPid() : this.#agent?.pid, signal);
      case 'database':
        return this.#end(await databasePid({ folder: this.folder }), 'SIGKILL');
      case 'machine':
        await this.#killMachine();
        return 'all';
      default:
        return this.#endInRun(victim, random);
    }
  }

  #end(pid: number | undefined, signal: NodeJS.Signals): null | undefined {
    if (pid === undefined || Number.isNaN(pid) || pid <= 1) return undefined;
    sendSignal(pid, signal);
    return null;
  }

  async #endInRun(victim: 'runner' | 'tool' | 'git', random: Random): Promise<string | undefined> {
    const attempts = (await Promise.all(this.spools.map(attemptsIn))).flat();
    const running = attempts.filter(({ hasOutcome, runnerPid }) => !hasOutcome && runnerPid !== null);
    const found = await Promise.all(
      running.map(async ({ environmentId, runnerPid }) => {
        const inside = victim === 'runner' ? [] : await commandsOf(runnerPid ?? 0, victim);
        const pids = victim === 'runner' ? [runnerPid ?? 0] : inside.map(({ pid }) => pid);
        return pids.map((pid) => ({ environmentId, pid }));
      }),
    );
    const candidates = found.flat();
    if (candidates.length === 0) return undefined;
    const { environmentId, pid } = random.pick(candidates);
    sendSignal(pid, 'SIGKILL');
    return environmentId;
  }

  /** Everything at once; then it boots again. */
  async #killMachine(): Promise<void> {
    this.#isDown = true;
    try {
      await killTogether(async () => (await processesOf(this.folder)).map(({ pid }) => pid));
      this.#around = await anotherBoot(this.folder);
    } finally {
      this.#isDown = false;
    }
  }

  async #serverPid(): Promise<number | undefined> {
    const ours = await descendantsOf(process.pid);
    return ours.find(({ command }) => /server(\/src\/main\.ts|\.mjs)/.test(command))?.pid;
  }

  async #builtInPid(): Promise<number | undefined> {
    const server = await this.#serverPid();
    if (server === undefined) return undefined;
    const below = await descendantsOf(server);
    return below.find(({ command }) => /agent(\/src\/main\.ts|\.mjs)/.test(command))?.pid;
  }

  #startService(): Promise<RunningService> {
    const { folder } = this;
    return startService({ folder, settings: this.#settings, isLaunched: true, around: this.#around });
  }

  async #keepService(first: RunningService): Promise<void> {
    this.#service = first;
    for (;;) {
      await exitOf(this.#service.process);
      this.#service = await this.#untilStarted();
      if (this.#service === null) return;
    }
  }

  /** It is started again and again: it ends if it, or its database, is killed while it starts. */
  async #untilStarted(): Promise<RunningService | null> {
    for (let failures = 1; ; failures += 1) {
      await this.#pause();
      if (this.#isClosing) return null;
      try {
        const service = await this.#startService();
        if (!this.#isClosing) return service;
        await service.stop();
        return null;
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        if (failures >= tolerableFailures) this.problems.push(reason);
      }
    }
  }

  async #keepAgent(): Promise<void> {
    while (!this.#isClosing) {
      const agent = this.#startAgent();
      this.#agent = agent;
      await exitOf(agent);
      await this.#pause();
    }
  }

  async #pause(): Promise<void> {
    do await delay(pauseMilliseconds);
    while (this.#isDown);
  }

  async #addAgent(slots: number): Promise<void> {
    const [organization] = await this.client.call('listOrganizations');
    const { agentKey } = await this.client.call('createAgent', {
      body: { organizationId: organization?.id ?? '', name: 'second' },
    });
    const { secret } = await this.client.call('createAgentSecret', { params: { agentKey }, body: {} });
    const secretFile = join(this.folder, 'agent.secret');
    await mkdir(this.#agentSpool);
    await writeFile(secretFile, secret, { mode: 0o600 });
    this.#agentSettings = {
      PATH: this.#settings.PATH ?? '',
      ...(process.env.NODE_COMPILE_CACHE ? { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE } : {}),
      ENVARIUM_URL: this.#url,
      ENVARIUM_AGENT_KEY: agentKey,
      ENVARIUM_AGENT_SECRET_FILE: secretFile,
      ENVARIUM_SPOOL_DIR: this.#agentSpool,
      ENVARIUM_WORK_DIR: this.workFolder,
      ENVARIUM_AGENT_CONCURRENCY: String(slots),
      ENVARIUM_SLOT_UID_BASE: slotUidBase(1),
      ENVARIUM_ISOLATION_PATHS: toolboxFolder(),
      ENVARIUM_TOOL_MIRROR_TERRAFORM: 'none',
      ENVARIUM_TOOL_MIRROR_OPENTOFU: 'none',
      ENVARIUM_LOG_LEVEL: 'warn',
    };
  }

  #startAgent(): ChildProcess {
    const command = [...this.#around, process.execPath, launcher, 'agent/src/main.ts'];
    return spawn(command[0]!, command.slice(1), {
      stdio: 'ignore',
      env: { ...this.#agentSettings, HOME: process.env.HOME },
    });
  }

  /** Restarts the service, as an operator does, and waits until it answers. */
  async restart(): Promise<void> {
    const before = await until('the service', () => this.#service);
    await before.stop();
    await until('the next service', () => this.#service !== before && this.#isReady());
  }

  #isReady(): Promise<boolean> {
    return this.client.call('listOrganizations').then(
      () => true,
      () => false,
    );
  }

  /** Ends both, as an operator does; everything else must follow. */
  async stop(): Promise<void> {
    this.#isClosing = true;
    this.#agent?.kill('SIGTERM');
    await this.#service?.stop();
    await Promise.all(this.#supervised);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    await killTogether(async () => (await processesOf(this.folder)).map(({ pid }) => pid));
    await removeScratch(this.folder);
  }
}

async function commandsOf(runner: number, victim: 'tool' | 'git'): Promise<ProcessRow[]> {
  const pattern = victim === 'tool' ? /^(terraform|tofu)$/u : /^git/u;
  const inside = await descendantsOf(runner);
  return inside.filter((each) => pattern.test(programOf(each)));
}

function exitOf(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
}

/** An organization with one agent, far from the service: behind a network that has faults. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { agentProgram } from '../../tools/programs/built-programs.ts';
import { slotUidBase } from '../../tools/programs/slot-uid-base.ts';
import { toolboxFolder } from '../../tools/toolbox/places.ts';
import { type Home, until } from '../runs.ts';
import type { RunningService } from '../service.ts';
import { FaultyNetwork } from './faulty-network.ts';
import { killAll } from './processes.ts';

export interface FarAgentOptions {
  /** Another program than that of the checkout. */
  readonly program?: string;
  /** Command line in front of the agent's. */
  readonly around?: readonly string[];
  /** Address under which it reaches the service; default: through a network of its own. */
  readonly url?: string;
}

export class FarAgent implements AsyncDisposable {
  readonly home: Home;
  readonly agentKey: string;
  readonly network: FaultyNetwork;
  readonly process: ChildProcess;
  #log = '';

  private constructor(home: Home, agentKey: string, network: FaultyNetwork, child: ChildProcess) {
    this.home = home;
    this.agentKey = agentKey;
    this.network = network;
    this.process = child;
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (this.#log += text));
  }

  /** Starts it, and waits until the service knows it. @param name of the organization */
  static async start(
    service: RunningService,
    name: string,
    { program = agentProgram, around = [], url }: FarAgentOptions = {},
  ): Promise<FarAgent> {
    const { client } = service;
    const { id: organizationId } = await client.call('createOrganization', { body: { name } });
    const [project] = await client.call('listProjects', { query: { organizationId } });
    const { agentKey } = await client.call('createAgent', { body: { organizationId, name } });
    const { secret } = await client.call('createAgentSecret', { params: { agentKey }, body: {} });
    const folder = join(service.folder, 'agents', agentKey);
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'secret'), secret, { mode: 0o600 });
    const network = await FaultyNetwork.start(service.url);
    const [first, ...rest] = [...around, process.execPath, program];
    const child = spawn(first, rest, {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: {
        PATH: process.env.PATH,
        HOME: process.env.HOME,
        ...(process.env.NODE_COMPILE_CACHE ? { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE } : {}),
        ENVARIUM_URL: url ?? network.url,
        ENVARIUM_AGENT_KEY: agentKey,
        ENVARIUM_AGENT_SECRET_FILE: join(folder, 'secret'),
        ENVARIUM_AGENT_CONCURRENCY: '1',
        ENVARIUM_SLOT_UID_BASE: slotUidBase(),
        ENVARIUM_SPOOL_DIR: join(folder, 'spool'),
        ENVARIUM_WORK_DIR: join(folder, 'work'),
        ENVARIUM_ISOLATION_PATHS: toolboxFolder(),
        ENVARIUM_TOOL_MIRROR_TERRAFORM: 'none',
        ENVARIUM_TOOL_MIRROR_OPENTOFU: 'none',
        ENVARIUM_LOG_LEVEL: 'warn',
      },
    });
    const agent = new FarAgent({ organizationId, projectId: project?.id ?? '' }, agentKey, network, child);
    await until(`the agent of ${name}`, async () => {
      if (child.exitCode !== null) throw new Error(`The agent of ${name} ended:\n${agent.log()}`);
      const agents = await client.call('listAgents', { query: { organizationId } });
      return agents.some((each) => each.agentKey === agentKey && each.status === 'ACTIVE');
    });
    return agent;
  }

  /** Everything that it has logged so far. */
  log(): string {
    return this.#log;
  }

  /** Its machine is gone, with all that runs there. */
  async die(): Promise<void> {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    const ended = new Promise((resolve) => this.process.once('exit', resolve));
    await killAll(this.process.pid ?? 0);
    await ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.die();
    await this.network[Symbol.asyncDispose]();
  }
}

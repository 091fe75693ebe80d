/** Agents that are not started by a service, as on machines of their own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { agentProgram } from '../tools/programs/built-programs.ts';
import { slotUidBase } from '../tools/programs/slot-uid-base.ts';
import { toolboxFolder } from '../tools/toolbox/places.ts';
import { until } from './runs.ts';
import type { RunningService } from './service.ts';

export interface RunningAgent extends AsyncDisposable {
  readonly process: ChildProcess;
  /** Everything it has logged so far. */
  log(): string;
}

export interface AgentProcessOptions {
  /** A scratch folder, which other agents may share. */
  readonly folder: string;
  /** A number, different for each agent of a machine. */
  readonly place: number;
  /** Addresses of the service, in the order in which the agent tries them. */
  readonly urls: readonly string[];
  readonly settings?: Readonly<Record<string, string>>;
}

const agentKey = 'ENVARIUM_DEFAULT';
const secrets = new WeakMap<RunningService['client'], Promise<string>>();

/** All agents of a service share a secret: it has room for two. */
function secretOf(client: RunningService['client']): Promise<string> {
  const made =
    secrets.get(client) ??
    client
      .call('createAgentSecret', { params: { agentKey }, body: { description: 'agents' } })
      .then(({ secret }) => secret);
  secrets.set(client, made);
  return made;
}

/** Starts an agent with the key of the local agents, and waits until it is registered. */
export async function startAgent(
  { client }: Pick<RunningService, 'client'>,
  { folder, place, urls, settings }: AgentProcessOptions,
): Promise<RunningAgent> {
  const secret = await secretOf(client);
  const spool = join(folder, `agent-${place}`);
  await mkdir(spool, { recursive: true });
  await writeFile(`${spool}.secret`, secret, { mode: 0o600 });
  const child = spawn(process.execPath, [agentProgram], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      ...(process.env.NODE_COMPILE_CACHE ? { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE } : {}),
      ENVARIUM_URL: urls.join(','),
      ENVARIUM_AGENT_KEY: agentKey,
      ENVARIUM_AGENT_SECRET_FILE: `${spool}.secret`,
      ENVARIUM_SPOOL_DIR: spool,
      ENVARIUM_WORK_DIR: join(folder, 'work'),
      ENVARIUM_SLOT_UID_BASE: slotUidBase(place),
      ENVARIUM_ISOLATION_PATHS: toolboxFolder(),
      ENVARIUM_TOOL_MIRROR_TERRAFORM: 'none',
      ENVARIUM_TOOL_MIRROR_OPENTOFU: 'none',
      ...settings,
    },
  });
  let text = '';
  child.stderr.setEncoding('utf8').on('data', (part: string) => (text += part));
  const end = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
  };
  await until('the agent', () => {
    if (child.exitCode !== null) throw new Error(`The agent ended with status ${child.exitCode}:\n${text}`);
    return text.includes('agent is registered');
  });
  return { process: child, log: () => text, [Symbol.asyncDispose]: end };
}

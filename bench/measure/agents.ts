/** Agents of a service, started as on machines of their own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { killTree } from './processes.ts';
import type { BenchService } from './service.ts';

const launcher = fileURLToPath(new URL('../../tools/launch.mjs', import.meta.url));
const readyMilliseconds = 30_000;
const pollMilliseconds = 20;

/** An agent with a key of its own; it can be stopped and started again. */
export interface BenchAgent extends AsyncDisposable {
  /** As deployments name it. */
  readonly id: string;
  /** Starts it, and waits until the service knows its process. @throws Error with its log if it ends */
  start(): Promise<void>;
  /** Of its process; 0 before its first start. */
  pid(): number;
  /** Ends its process as `systemctl stop` does. */
  stop(): Promise<void>;
  /** Ends it and everything that it has started at once, as the end of its machine does. */
  kill(): Promise<void>;
}

function environmentOf(
  { url, folder }: BenchService,
  { agentKey, spool, place }: { agentKey: string; spool: string; place: number },
): NodeJS.ProcessEnv {
  return {
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    ENVARIUM_URL: url,
    ENVARIUM_AGENT_KEY: agentKey,
    ENVARIUM_AGENT_SECRET_FILE: `${spool}.secret`,
    ENVARIUM_SPOOL_DIR: spool,
    ENVARIUM_WORK_DIR: join(folder.path, 'work'),
    ENVARIUM_SLOT_UID_BASE: String(70_000 + 1000 * place),
    ENVARIUM_LOG_LEVEL: 'warn',
  };
}

/** Creates an agent of the first organization, and starts it. @param place a number, different for each agent */
export async function startAgent(service: BenchService, place: number): Promise<BenchAgent> {
  const { client, folder } = service;
  const [organization] = await client.call('listOrganizations');
  if (!organization) throw new Error('the new installation has no organization');
  const { agentKey, id = '' } = await client.call('createAgent', {
    body: { organizationId: organization.id, name: `agent ${place}` },
  });
  const { secret } = await client.call('createAgentSecret', { params: { agentKey }, body: {} });
  const spool = join(folder.path, `agent-${place}`);
  await mkdir(spool);
  await writeFile(`${spool}.secret`, secret, { mode: 0o600 });
  const isKnown = async () => {
    const agents = await client.call('listAgents');
    return agents.find((agent) => agent.id === id)?.status === 'ACTIVE';
  };
  let child: ChildProcess | undefined;
  const isRunning = () => child?.exitCode === null && child.signalCode === null;

  const start = async () => {
    let log = '';
    child = spawn(process.execPath, [launcher, 'agent/src/main.ts'], {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: environmentOf(service, { agentKey, spool, place }),
    });
    child.stderr?.setEncoding('utf8').on('data', (part: string) => {
      log += part;
    });
    const deadline = performance.now() + readyMilliseconds;
    try {
      while (!(await isKnown())) {
        if (!isRunning()) throw new Error(`An agent ended with status ${child.exitCode}:\n${log}`);
        if (performance.now() > deadline) throw new Error(`An agent was not ready in time:\n${log}`);
        await delay(pollMilliseconds);
      }
    } catch (error) {
      await stop();
      throw error;
    }
  };
  const stop = async () => {
    if (!child || !isRunning()) return;
    const ended = new Promise((resolve) => child?.once('exit', resolve));
    child.kill('SIGTERM');
    await ended;
  };
  await start();
  return {
    id,
    start,
    stop,
    pid: () => child?.pid ?? 0,
    kill: () => killTree(child?.pid),
    [Symbol.asyncDispose]: stop,
  };
}

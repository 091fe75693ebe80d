/** A service started as by `npm start`, in a scratch folder, stopped together with all its processes. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Client, createClient } from '#contract/client/client.ts';
import { freePort } from '../../tools/suite/free-port.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const launcher = join(root, 'tools', 'launch.mjs');
/** `off` measures as on a machine without bubblewrap. */
export const isolation = process.env.ENVARIUM_ISOLATION ?? 'auto';
const readyMilliseconds = 60_000;
const endMilliseconds = 20_000;
const pollMilliseconds = 2;
const key = 'bench';

export interface BenchService extends AsyncDisposable {
  readonly client: Client;
  readonly url: string;
  readonly key: string;
  readonly secret: string;
  readonly folder: Folder;
  readonly pid: number;
  /** From the start of its process until `GET /readyz` answered 200, in milliseconds. */
  readonly readyAfter: number;
}

/** A scratch folder with room for data and repositories; it may serve several starts. */
export interface Folder extends AsyncDisposable {
  readonly path: string;
  readonly data: string;
  readonly repositories: string;
}

/** Creates a scratch folder that runs can read; disposing of it deletes it. */
export async function scratchFolder(): Promise<Folder> {
  const path = await mkdtemp(join(tmpdir(), 'envarium-bench-'));
  await chmod(path, 0o755);
  const repositories = join(path, 'repositories');
  await mkdir(repositories);
  return {
    path,
    repositories,
    data: join(path, 'data'),
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true, maxRetries: 5 }),
  };
}

function isReady(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get(`${url}/readyz`, { agent: false, timeout: 1000 }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    request.on('error', () => resolve(false));
    request.on('timeout', () => request.destroy());
  });
}

async function untilReady(child: ChildProcess, url: string, log: () => string): Promise<void> {
  const deadline = performance.now() + readyMilliseconds;
  while (!(await isReady(url))) {
    if (child.exitCode !== null)
      throw new Error(`The service ended with status ${child.exitCode}:\n${log()}`);
    if (performance.now() > deadline) throw new Error(`The service was not ready in time:\n${log()}`);
    await delay(pollMilliseconds);
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), endMilliseconds);
  await ended;
  clearTimeout(timer);
}

export interface StartOptions {
  /** Settings in addition to those of every benchmark. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Takes the place of an earlier service of the folder: same address, same key. */
  readonly follows?: BenchService;
  /** Starts it as a person does, with npm; otherwise npm's own time and memory do not count. */
  readonly withNpm?: boolean;
}

/** @throws Error with its log if the service does not start */
export async function startService(
  folder: Folder,
  { settings = {}, follows, withNpm = false }: StartOptions = {},
): Promise<BenchService> {
  const { ENVARIUM_BOOTSTRAP_API_SECRET: configured } = settings;
  const secret = configured ?? follows?.secret ?? randomBytes(32).toString('base64url');
  const port = follows ? Number(new URL(follows.url).port) : await freePort();
  const url = `http://127.0.0.1:${port}`;
  let text = '';
  const startedAt = performance.now();
  const [program, args] = withNpm ? ['npm', ['start']] : [process.execPath, [launcher, 'server/src/main.ts']];
  const child = spawn(program, args, {
    cwd: root,
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      ENVARIUM_PORT: String(port),
      ENVARIUM_DATA_DIR: folder.data,
      ENVARIUM_GIT_LOCAL_PATHS: folder.repositories,
      ENVARIUM_BOOTSTRAP_API_KEY: key,
      ENVARIUM_BOOTSTRAP_API_SECRET: secret,
      ENVARIUM_RATE_LIMIT: '0',
      ENVARIUM_LOG_LEVEL: 'warn',
      ENVARIUM_ISOLATION: isolation,
      ...settings,
    },
  });
  child.stderr.setEncoding('utf8').on('data', (part: string) => {
    text += part;
  });
  try {
    await untilReady(child, url, () => text);
  } catch (error) {
    await end(child);
    throw error;
  }
  const readyAfter = performance.now() - startedAt;
  const dispose = () => end(child);
  return {
    client: createClient({ url, key, secret }),
    url,
    key,
    secret,
    folder,
    readyAfter,
    pid: child.pid ?? 0,
    [Symbol.asyncDispose]: dispose,
  };
}

/**
 * A whole service on a scratch folder, started as a person would start it, and ended with everything that it
 * started.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { chmod, chown, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Client, createClient } from '#contract/client/client.ts';
import { serverProgram } from '../tools/programs/built-programs.ts';
import { slotUidBase } from '../tools/programs/slot-uid-base.ts';
import { copyPreparedDatabase } from '../tools/suite/prepared-database.ts';
import { toolboxFolder } from '../tools/toolbox/places.ts';

const run = promisify(execFile);
const launcher = fileURLToPath(new URL('../tools/launch.mjs', import.meta.url));
/** The user id of services that are not root's, where the tests are. */
export const ordinaryUid = 65_534;
/** Many times what it takes, also on a busy machine. */
const startMilliseconds = 120_000;
const endMilliseconds = 15_000;

export interface ServiceOptions {
  /** Settings besides those that make the service a scratch one. */
  readonly settings?: Readonly<Record<string, string>>;
  /** An existing scratch folder, to start again on what it holds. */
  readonly folder?: string;
  /** As a user who owns nothing but the scratch folder; where the test is not root, its own user is one. */
  readonly isOrdinary?: boolean;
  /** By the launcher, as `npm start` does, which adds the web interface; default: the program alone. */
  readonly isLaunched?: boolean;
  /** Command line in front of the service's. */
  readonly around?: readonly string[];
  /** Gets what the service logs. */
  readonly onLog?: (text: string) => void;
}

/** The command prefix that runs a program as an ordinary user: empty if the test already is one. */
export function withoutRoot(): string[] {
  return process.getuid?.() === 0
    ? ['setpriv', `--reuid=${ordinaryUid}`, `--regid=${ordinaryUid}`, '--clear-groups', '--']
    : [];
}

/** A running service with the key to it. */
export interface RunningService extends AsyncDisposable {
  readonly url: string;
  readonly key: string;
  readonly secret: string;
  readonly client: Client;
  readonly folder: string;
  readonly process: ChildProcess;
  /** Everything the service has logged so far. */
  log(): string;
  /** Ends the process by SIGTERM and waits for it. */
  stop(): Promise<void>;
  /** Ends the process by SIGKILL, as a crash would, and waits for it. */
  kill(): Promise<void>;
}

/** Makes this process trust an authority, too. @param file with its certificate */
export function trustAuthority(file: string): void {
  setDefaultCACertificates([...getCACertificates('default'), readFileSync(file, 'utf8')]);
}

const folders: string[] = [];
// Those of tests that have failed, too: a spool that stays keeps its user ids.
process.once('exit', () => {
  for (const folder of folders)
    try {
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    } catch {
      // Something that was killed is still writing there; the test has passed or failed already.
    }
});

/** A folder that runs can read from, with room for data and repositories. It ends with this process at the latest. */
export async function scratchFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'envarium-'));
  folders.push(folder);
  await chmod(folder, 0o755);
  return folder;
}

/** Removes such a folder before the end of the process. A runner that waited for an order may still be ending, and writes until then. */
export async function removeScratch(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
}

async function untilReady(child: ChildProcess, address: Promise<string>, log: () => string): Promise<string> {
  const ended = new Promise<never>((_, reject) =>
    child.once('exit', (code) => reject(new Error(`The service ended with status ${code}:\n${log()}`))),
  );
  const late = delay(startMilliseconds, undefined, { ref: false }).then(() =>
    Promise.reject(new Error(`The service was not ready in time:\n${log()}`)),
  );
  return Promise.race([address, ended, late]);
}

/**
 * Starts the service and waits until it answers.
 * @throws Error with its log where it does not start
 */
export async function startService(options: ServiceOptions = {}): Promise<RunningService> {
  const folder = options.folder ?? (await scratchFolder());
  const repositories = join(folder, 'repositories');
  await mkdir(repositories, { recursive: true });
  const key = 'acceptance';
  const secret = options.settings?.ENVARIUM_BOOTSTRAP_API_SECRET ?? randomBytes(32).toString('base64url');
  const secretFile = join(folder, 'bootstrap.secret');
  if (!options.settings?.ENVARIUM_BOOTSTRAP_API_SECRET) await writeFile(secretFile, secret, { mode: 0o600 });
  // A service that starts as people start it creates its database, too.
  if (!options.isLaunched && !options.isOrdinary && !options.settings?.DATABASE_URL)
    await copyPreparedDatabase(join(folder, 'data'));
  let text = '';
  const isOther = options.isOrdinary === true && process.getuid?.() === 0;
  if (isOther)
    for (const path of [folder, repositories, secretFile]) await chown(path, ordinaryUid, ordinaryUid);
  const entry = options.isLaunched ? launcher : serverProgram;
  const entryArgs = options.isLaunched ? ['server/src/main.ts'] : [];
  const [program, ...args] = [
    ...(options.around ?? []),
    ...(isOther ? withoutRoot() : []),
    process.execPath,
    entry,
  ];
  const child = spawn(program, [...args, ...entryArgs], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env.PATH,
      HOME: isOther ? folder : process.env.HOME,
      ...(process.env.NODE_COMPILE_CACHE ? { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE } : {}),
      // With what is loaded before programs of tests (tools/claims).
      ...(process.env.NODE_OPTIONS ? { NODE_OPTIONS: process.env.NODE_OPTIONS } : {}),
      ENVARIUM_PORT: '0',
      ENVARIUM_DATA_DIR: join(folder, 'data'),
      ENVARIUM_GIT_LOCAL_PATHS: repositories,
      ENVARIUM_BOOTSTRAP_API_KEY: key,
      ENVARIUM_SLOT_UID_BASE: slotUidBase(),
      // Programs of tests call the tools that were built for them.
      ENVARIUM_ISOLATION_PATHS: toolboxFolder(),
      // A test depends on no publisher.
      ENVARIUM_TOOL_MIRROR_TERRAFORM: 'none',
      ENVARIUM_TOOL_MIRROR_OPENTOFU: 'none',
      ENVARIUM_TOOL_MIRROR_TERRAGRUNT: 'none',
      ENVARIUM_TOOL_MIRROR_PULUMI: 'none',
      ENVARIUM_TOOL_MIRROR_INFRACOST: 'none',
      ...(options.settings?.ENVARIUM_BOOTSTRAP_API_SECRET
        ? {}
        : { ENVARIUM_BOOTSTRAP_API_SECRET_FILE: secretFile }),
      ...options.settings,
    },
  });
  const address = new Promise<string>((resolve) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (part: string) => {
        text += part;
        options.onLog?.(part);
        const found = /listens on (https?:\/\/\S+)/.exec(text);
        if (found?.[1]) resolve(found[1]);
      });
    }
  });
  const url = await untilReady(child, address, () => text).catch((error: unknown) => {
    child.kill('SIGTERM');
    throw error;
  });
  const end = async (signal: 'SIGTERM' | 'SIGKILL') => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    const timer = setTimeout(() => child.kill('SIGKILL'), endMilliseconds);
    await ended;
    clearTimeout(timer);
  };
  const stop = () => end('SIGTERM');
  return {
    url,
    key,
    secret,
    folder,
    stop,
    kill: () => end('SIGKILL'),
    client: createClient({ url, key, secret }),
    process: child,
    log: () => text,
    async [Symbol.asyncDispose]() {
      await stop();
      if (!options.folder) await removeScratch(folder);
    },
  };
}

/** Files of a repository, by path. */
export type Files = Readonly<Record<string, string>>;

/** A git repository on disk, in a folder that the service may read. */
export interface Repository {
  readonly path: string;
  /** Writes files and commits them. @returns the commit's id */
  commit(files: Files, message?: string): Promise<string>;
  git(...args: string[]): Promise<string>;
}

/** Makes a folder, with a number after its name where tests of the same service have made one of this name. */
async function makeFolder(parent: string, name: string): Promise<string> {
  for (let number = 1; ; number++) {
    const path = join(parent, number === 1 ? name : `${name}-${number}`);
    const isNew = await mkdir(path).then(
      () => true,
      (error: NodeJS.ErrnoException) => (error.code === 'EEXIST' ? false : Promise.reject(error)),
    );
    if (isNew) return path;
  }
}

/** Makes a repository with one commit on branch `main`. */
export async function makeRepository(folder: string, name: string, files: Files): Promise<Repository> {
  const repositories = join(folder, 'repositories');
  await mkdir(repositories, { recursive: true });
  const path = await makeFolder(repositories, name);
  const git = async (...args: string[]) => {
    const identity = [
      '-c',
      'user.name=Envarium',
      '-c',
      'user.email=envarium@localhost',
      '-c',
      'commit.gpgsign=false',
    ];
    const { stdout } = await run('git', ['-C', path, ...identity, ...args], {
      env: { PATH: process.env.PATH, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' },
    });
    return stdout.trim();
  };
  const commit = async (changed: Files, message = 'Change the configuration') => {
    for (const [file, content] of Object.entries(changed)) {
      await mkdir(dirname(join(path, file)), { recursive: true });
      await writeFile(join(path, file), content);
    }
    await git('add', '--all');
    await git('commit', '--quiet', '--allow-empty', '--message', message);
    return git('rev-parse', 'HEAD');
  };
  await git('init', '--quiet', '--initial-branch', 'main');
  await commit(files, 'First configuration');
  return { path, commit, git };
}

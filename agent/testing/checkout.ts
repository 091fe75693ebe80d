/**
 * For tests: the guarded checkout as the runner calls it, under the current user, and repositories to read.
 */
import { execFileSync, spawn } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { gitConfiguration, gitEnvironment } from '#guards/git/git-environment.ts';
import { serveRepository } from '#guards/git/serve-repository.ts';
import { normalizePath } from '#guards/source-guards.ts';
import type { Job } from '#protocol/messages/job.ts';
import { temporaryFolder } from '../../tools/suite/temporary-folder.ts';
import type { CheckoutRequest, GitCall, GitEnd } from '../src/sources/git-calls.ts';
import { type CheckedOut, checkOut } from '../src/sources/git-checkout.ts';
import { readCloneArguments } from '../src/sources/partial-clone.ts';
import { openSshGate } from '../src/sources/ssh-gate.ts';

export type Files = Readonly<Record<string, string>>;

/** A git repository with one commit. */
export interface TestRepository {
  readonly path: string;
  git(...args: string[]): string;
  commit(files: Files): string;
  /** Adds a submodule as git would, even with an invalid address. */
  addSubmodule(path: string, url: string, commit: string, more?: string): void;
}

export interface CheckoutSetup {
  readonly folder: string;
  repository(name: string, files: Files): TestRepository;
  source(repository: string, changes?: Partial<Job['source']>): Job['source'];
  checkOut(source: Job['source'], options?: CheckoutOptions): Promise<Checkout>;
}

export interface CheckoutOptions {
  readonly cloneArguments?: string;
  readonly skipsSubmodules?: boolean;
  readonly hasLfs?: boolean;
}

export interface Checkout {
  readonly tree: string;
  readonly found: CheckedOut;
  readonly logged: string[];
  /** The labels of the commands of git. */
  readonly commands: string[];
  read(name: string): string;
}

/** A new folder for repositories and trees; removed after the test. */
export function createCheckoutSetup(t: TestContext): CheckoutSetup {
  const folder = temporaryFolder(t, 'checkout-');
  writeFileSync(join(folder, 'gitconfig'), gitConfiguration);
  mkdirSync(join(folder, 'home'));
  let trees = 0;
  return {
    folder,
    repository: (name, files) => makeRepository(join(folder, 'repositories', name), files),
    source: (repository, changes = {}) => ({
      repository,
      httpHosts: ['127.0.0.1'],
      localPaths: [join(folder, 'repositories')],
      ...changes,
    }),
    async checkOut(source, options = {}) {
      const tree = join(folder, `tree-${++trees}`);
      mkdirSync(tree);
      const logged: string[] = [];
      const commands: string[] = [];
      const found = await checkOut(requestOf(folder, tree, source, options, { logged, commands }));
      return { tree, found, logged, commands, read: (name) => readFileSync(join(tree, name), 'utf8') };
    },
  };
}

function makeRepository(path: string, files: Files): TestRepository {
  mkdirSync(path, { recursive: true });
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', '-C', path, ...args], {
      encoding: 'utf8',
      stdio: 'pipe',
      env: { PATH: process.env.PATH, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' },
    }).trim();
  const repository: TestRepository = {
    path,
    git,
    commit(changed) {
      for (const [name, content] of Object.entries(changed)) {
        mkdirSync(dirname(join(path, name)), { recursive: true });
        writeFileSync(join(path, name), content);
        git('add', '--', name);
      }
      git('commit', '-q', '--allow-empty', '-m', 'change');
      return git('rev-parse', 'HEAD');
    },
    addSubmodule(at, url, commit, more = '') {
      const known = existsSync(join(path, '.gitmodules'))
        ? readFileSync(join(path, '.gitmodules'), 'utf8')
        : '';
      if (!at.includes('..')) git('update-index', '--add', '--cacheinfo', `160000,${commit},${at}`);
      repository.commit({
        '.gitmodules': `${known}[submodule "${at}"]\n\tpath = ${at}\n\turl = ${url}\n${more}`,
      });
    },
  };
  git('init', '-q', '-b', 'main');
  repository.commit(files);
  return repository;
}

function requestOf(
  folder: string,
  tree: string,
  source: Job['source'],
  options: CheckoutOptions,
  { logged, commands }: Pick<Checkout, 'logged' | 'commands'>,
): CheckoutRequest {
  return {
    source,
    folder: tree,
    path: normalizePath(source.path ?? ''),
    git: (call) => runGit(folder, source, call, join(folder, `log-${commands.push(call.label)}`)),
    cloneArguments: readCloneArguments(options.cloneArguments),
    skipsSubmodules: options.skipsSubmodules ?? false,
    hasLfs: options.hasLfs ?? true,
    kindOf: async (path) => kindOf(tree, path),
    beginningOf: async (path) =>
      kindOf(tree, path) === 'file' ? readFileSync(join(tree, path), 'latin1').slice(0, 200) : null,
    bytesOf: async (path, most) =>
      kindOf(tree, path) === 'file' ? readFileSync(join(tree, path)).subarray(0, most) : null,
    namesIn: async (path) => (kindOf(tree, path) === 'folder' ? readdirSync(join(tree, path)) : []),
    codeIn: async (path) =>
      (existsSync(join(tree, path)) ? readdirSync(join(tree, path)) : [])
        .filter((name) => name.endsWith('.tf'))
        .map((name) => readFileSync(join(tree, path, name), 'utf8')),
    log: (text) => void logged.push(text),
  };
}

/**
 * A request whose repository does not exist: git is not run.
 * @param answer the output of a command, by its label; null: it fails
 */
export function answeredRequest(
  answer: (label: string) => string | null,
  changes: Partial<CheckoutRequest> = {},
): CheckoutRequest {
  return {
    source: { repository: 'https://host/code', httpHosts: [], localPaths: [] },
    folder: '/answered',
    path: '',
    git: async ({ label }) => {
      const output = answer(label);
      return { exitCode: output === null ? 1 : 0, signal: null, output: output ?? '' };
    },
    cloneArguments: readCloneArguments(undefined),
    skipsSubmodules: false,
    hasLfs: true,
    kindOf: async () => 'folder',
    beginningOf: async () => null,
    bytesOf: async () => null,
    namesIn: async () => [],
    codeIn: async () => [],
    log: () => undefined,
    ...changes,
  };
}

async function runGit(folder: string, source: Job['source'], call: GitCall, log: string): Promise<GitEnd> {
  const { access } = call;
  const web = access?.kind === 'web' ? access : undefined;
  const usesGate = access?.kind === 'ssh' && call.connectsItself === true;
  const programs = { ssh: '/usr/bin/ssh', launcher: [], folder };
  await using gate = usesGate
    ? await openSshGate({
        source,
        programs,
        folder: join(folder, 'gate'),
        sharedFolder: folder,
        slotUid: null,
      })
    : null;
  const environment = gitEnvironment({
    configurationFile: join(folder, 'gitconfig'),
    home: join(folder, 'home'),
    path: process.env.PATH ?? '',
    protocols: web ? new URL(web.url).protocol.replace(':', '') : access ? 'fd' : 'none',
    followsRedirects: true,
    ...(web ? { url: web.url, credentials: web.credentials } : {}),
  });
  const own =
    call.connectsItself === true
      ? { GIT_NO_LAZY_FETCH: '0', ...(usesGate ? { GIT_ALLOW_PROTOCOL: 'ssh' } : {}) }
      : {};
  const client = spawn('git', [...call.args], {
    cwd: folder,
    env: { ...environment, ...own, ...gate?.environment },
    stdio: [
      'ignore',
      'pipe',
      'pipe',
      ...(access !== undefined && web === undefined && !usesGate ? (['pipe'] as const) : []),
    ],
  });
  const output = { out: '', all: '' };
  client.stdout?.on('data', (text: Buffer) => {
    output.out += text.toString();
    output.all += text.toString();
  });
  client.stderr?.on('data', (text: Buffer) => (output.all += text.toString()));
  const ended = new Promise<number | null>((resolve) => client.once('close', resolve));
  if (access !== undefined && access.kind !== 'web' && !usesGate)
    await serveRepository({ repository: access, client, environment, log, folder, program: '/usr/bin/git' });
  const exitCode = await ended;
  const complaints = existsSync(log) ? readFileSync(log, 'utf8') : '';
  return {
    exitCode,
    signal: client.signalCode,
    output: call.isCaptured && exitCode === 0 ? output.out : output.all + complaints,
  };
}

function kindOf(tree: string, path: string): 'folder' | 'file' | 'other' | 'outside' | 'none' {
  if (lstatSync(join(tree, path), { throwIfNoEntry: false }) === undefined) return 'none';
  const real = realpathSync(join(tree, path));
  if (real !== tree && !real.startsWith(`${tree}/`)) return 'outside';
  const status = statSync(real);
  return status.isDirectory() ? 'folder' : status.isFile() ? 'file' : 'other';
}

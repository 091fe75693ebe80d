/** Builds one tool with Go, into the toolbox and nowhere else. */
import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { setPriority } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type FolderLock, FolderLockedError, lockFolder } from '#guards/folder-lock.ts';
import { buildFlags, recipeFolder, toolboxFolder, toolFolder } from './places.ts';
import { recipes, type ToolName } from './recipes.ts';

const run = promisify(execFile);
const pollMilliseconds = 500;
/** Compilers get what tests that run at the same time leave, so that those keep their time limits. */
const buildPriority = 10;

/** Error that a person can act on: printed without a stack. */
export class ToolboxError extends Error {}

/** Caches of Go that all recipes share and later builds find again; the user's own where they are set. */
export function goCaches(): { GOCACHE: string; GOMODCACHE: string } {
  const { GOCACHE, GOMODCACHE } = process.env;
  const folder = join(toolboxFolder(), 'go');
  return { GOCACHE: GOCACHE || join(folder, 'build'), GOMODCACHE: GOMODCACHE || join(folder, 'modules') };
}

/** Go's own settings stay the user's, including proxies; what would change the result does not. */
function goEnvironment(): NodeJS.ProcessEnv {
  const { GOOS: _, GOARCH: __, GOEXPERIMENT: ___, ...others } = process.env;
  // A cache that its owner may remove, which Go's own is not.
  const GOFLAGS = '-modcacherw';
  return { ...others, ...goCaches(), GOFLAGS, CGO_ENABLED: '0', GOTOOLCHAIN: 'local', GOWORK: 'off' };
}

/**
 * The version of Go that is there, such as `go1.26.8`.
 * @throws ToolboxError where there is none
 */
export async function goVersion(): Promise<string> {
  try {
    const { stdout } = await run('go', ['env', 'GOVERSION'], { env: goEnvironment() });
    return stdout.trim();
  } catch (cause) {
    throw new ToolboxError(
      'Go is not on the PATH, or does not run: install it from https://go.dev/dl/, then try again.',
      { cause },
    );
  }
}

/**
 * Builds a tool unless it is there. A second caller waits for the first.
 * @param version of Go, as `goVersion` answers it
 * @param say called before anything that takes long
 * @param signal ends the compiler
 * @returns the program's path, and whether it was built now
 * @throws ToolboxError with the compiler's last lines
 */
export async function buildTool(
  name: ToolName,
  version: string,
  say: (text: string) => void,
  signal?: AbortSignal,
): Promise<{ program: string; isNew: boolean }> {
  const folder = join(toolFolder(name), version);
  const program = join(folder, recipes[name].program);
  if (existsSync(program)) return { program, isNew: false };
  await mkdir(toolFolder(name), { recursive: true, mode: 0o755 });
  await using _ = await waitForLock(toolFolder(name), say);
  if (existsSync(program)) return { program, isNew: false };
  say(`Building ${name} with ${version} into ${toolboxFolder()} …`);
  const unfinished = await mkdtemp(`${folder}.partial-`);
  try {
    await compile(name, join(unfinished, recipes[name].program), signal);
    await run('chmod', ['0755', '--', unfinished]);
    await rename(unfinished, folder);
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
  return { program, isNew: true };
}

/** Waits until no other process works in a folder of the toolbox. */
export async function waitForLock(folder: string, say: (text: string) => void): Promise<FolderLock> {
  for (let isTold = false; ; isTold = true) {
    try {
      return await lockFolder(folder);
    } catch (error) {
      if (!(error instanceof FolderLockedError)) throw error;
      if (!isTold) say(`Waiting: ${error.message}`);
      await delay(pollMilliseconds);
    }
  }
}

async function compile(name: ToolName, output: string, signal?: AbortSignal): Promise<void> {
  const args = [...buildFlags(recipes[name]), '-mod=readonly', '-o', output, recipes[name].package];
  const child = spawn('go', args, {
    cwd: recipeFolder(name),
    env: goEnvironment(),
    stdio: ['ignore', 'ignore', 'pipe'],
    ...(signal ? { signal } : {}),
  });
  if (child.pid !== undefined) setPriority(child.pid, buildPriority);
  const ended = new Promise<number | null>((resolve, reject) =>
    child.once('error', reject).once('close', resolve),
  );
  let complaints = '';
  for await (const chunk of child.stderr.setEncoding('utf8'))
    complaints = (complaints + (chunk as string)).slice(-10_000);
  const status = await ended;
  if (status !== 0)
    throw new ToolboxError(`go build of ${name} ended with status ${status}:\n${complaints.trimEnd()}`);
}

/** The tool of an attempt: the requested version, the path of its program, and its actual version. */
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { valid } from 'semver';
import type { RequiredVersion, RequestedVersion } from '../../toolchain/choose-tool.ts';
import { ownPlatform } from '../../own-platform.ts';
import { takeKept } from '../../toolchain/fetch-release.ts';
import { findTool, type FoundTool, ToolProblem } from '../../toolchain/find-tool.ts';
import type { AttemptContext } from '../../attempt/attempt-context.ts';
import { logLine, scratchPath } from '../../attempt/attempt-log.ts';
import { failureOf, runCommand } from '../../attempt/run-command.ts';
import { RunFailure } from '../../processes/failure.ts';
import { findKnownProgram, toolPath } from '../../processes/programs.ts';
import { stopped, type StopWatch } from '../../processes/stop-watch.ts';
import { findRequestedVersion } from './requested-version.ts';

export interface ToolNeeds {
  /** The version that made the approved plan, which no other may replace. */
  readonly planned?: string;
  /** The constraints of the code; called only if they determine the version. */
  readonly required?: () => Promise<readonly RequiredVersion[]>;
}

/** The tool that an attempt runs. */
export interface ResolvedTool {
  /** As reported by the program; empty for a driver without a program. */
  readonly version: string;
  /** Absolute path of each program by name; empty if it was not found. */
  readonly paths: Readonly<Record<string, string>>;
}

/**
 * Finds the attempt's tool and fetches it if necessary.
 * @throws RunFailure that names what is missing
 */
export async function resolveTool(
  attempt: AttemptContext,
  step: string,
  needs: ToolNeeds = {},
): Promise<ResolvedTool> {
  const [name] = attempt.driver.programs;
  if (name === undefined) return { version: '', paths: attempt.order.toolPaths };
  const tool = await find(attempt, step, name, needs);
  const { program, from } = tool;
  const version = await versionOf(attempt, step, name, program);
  if (version !== tool.version)
    throw failed(
      name,
      `${program} was published as ${name} ${tool.version} but reports version ${version}: its publisher must correct this`,
    );
  logLine(attempt, step, `${name} ${version} (${program}${from === 'PATH' ? '' : ', from the tool cache'})`);
  return { version, paths: { ...attempt.order.toolPaths, [name]: program } };
}

/** The tool that planned; null if it cannot be found without running or fetching anything. */
export async function findLocalTool(attempt: AttemptContext, version: string): Promise<ResolvedTool | null> {
  const [name] = attempt.driver.programs;
  if (name === undefined) return { version, paths: attempt.order.toolPaths };
  const path = findKnownProgram(name, attempt.order.toolPaths);
  const program =
    path !== null && isKnownAs(attempt, path, version) ? path : await findInCache(attempt, name, version);
  return program === null ? null : { version, paths: { ...attempt.order.toolPaths, [name]: program } };
}

async function findInCache(attempt: AttemptContext, name: string, version: string): Promise<string | null> {
  const order = attempt.order.toolchain;
  if (order === undefined || valid(version) === null) return null;
  using stopping = signalOf(attempt.stop);
  const context = { order, signal: stopping.signal, log: () => undefined };
  const program = await takeKept(context, { program: name, version, platform: ownPlatform });
  return program !== null && isKnownAs(attempt, program, version) ? program : null;
}

function isKnownAs(attempt: AttemptContext, program: string, version: string): boolean {
  return knownVersions(attempt)[stampOf(program)] === version;
}

async function find(
  attempt: AttemptContext,
  step: string,
  name: string,
  needs: ToolNeeds,
): Promise<FoundTool> {
  const { order, stop } = attempt;
  const { planned } = needs;
  const wanted: RequestedVersion =
    planned === undefined
      ? await findRequestedVersion(attempt, step, name)
      : { kind: 'exact', version: planned, by: 'the approved plan' };
  const path = findKnownProgram(name, order.toolPaths);
  const onPath = path === null ? null : { path, version: await versionOf(attempt, step, name, path) };
  using stopping = signalOf(stop);
  try {
    return await findTool(
      {
        order: order.toolchain ?? null,
        signal: stopping.signal,
        log: (text) => logLine(attempt, step, text),
      },
      { name, wanted, onPath, required: needs.required ?? (async () => []) },
    );
  } catch (error) {
    stop.throwIfStopped();
    if (!(error instanceof ToolProblem)) throw error;
    throw failed(name, planned === undefined ? error.message : `${error.message}; nothing was applied`);
  }
}

function failed(name: string, message: string): RunFailure {
  return new RunFailure(message, { result: 'failed', failedCommand: name });
}

/** Converts a stop to an abort signal. */
function signalOf(stop: StopWatch): Disposable & { signal: AbortSignal } {
  const ending = new AbortController();
  const forget = stop.onStop((reason) => ending.abort(stopped(reason)));
  return { signal: ending.signal, [Symbol.dispose]: forget };
}

/** The version that a program reports; remembered until the file changes. */
async function versionOf(
  attempt: AttemptContext,
  step: string,
  name: string,
  program: string,
): Promise<string> {
  const known = knownVersions(attempt)[stampOf(program)];
  if (known !== undefined) return known;
  const label = `${name} version`;
  const captureTo = scratchPath(attempt, 'tool-version');
  const end = await runCommand(attempt, {
    step,
    label,
    name,
    program,
    args: attempt.driver.version.args,
    captureTo,
    isDisposable: true,
    cwd: attempt.folders.temporary,
    environment: {
      PATH: toolPath,
      HOME: attempt.folders.home,
      TMPDIR: attempt.folders.temporary,
      CHECKPOINT_DISABLE: '1',
    },
  });
  if (end.exitCode !== 0) throw failureOf(attempt, end, label, () => null);
  const version = readVersion(attempt, name, program, readFileSync(captureTo, 'utf8'));
  rememberVersion(attempt, program, version);
  return version;
}

function readVersion(attempt: AttemptContext, name: string, program: string, output: string): string {
  try {
    return attempt.driver.version.read(output);
  } catch (error) {
    throw failed(name, `${program} does not report its version: ${(error as Error).message}`);
  }
}

/** Changes whenever a program's file changes. */
export function stampOf(program: string): string {
  const { ino, size, mtimeMs } = statSync(program);
  return `${program} ${ino} ${size} ${mtimeMs}`;
}

// Running the program to get its version takes as long as a small plan.
const maxKnownVersions = 20;

function versionsFile(attempt: AttemptContext): string {
  return join(attempt.order.workFolder, '.tool-versions.json');
}

function knownVersions(attempt: AttemptContext): Record<string, string> {
  try {
    return JSON.parse(readFileSync(versionsFile(attempt), 'utf8')) as Record<string, string>;
  } catch {
    return {};
  }
}

function rememberVersion(attempt: AttemptContext, program: string, version: string): void {
  const others = Object.entries(knownVersions(attempt)).slice(1 - maxKnownVersions);
  writeFileSync(
    versionsFile(attempt),
    JSON.stringify({ ...Object.fromEntries(others), [stampOf(program)]: version }),
    { mode: 0o600 },
  );
}

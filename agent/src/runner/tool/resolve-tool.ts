/** The tool of an attempt: the requested version, the path of its program, and its actual version. */
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { valid } from 'semver';
import { isExecutable } from '#guards/find-on-path.ts';
import { toolFacts } from '#protocol/tools/index.ts';
import type { ProgramFacts } from '#protocol/tools/programs/program.ts';
import type { AttemptContext } from '../../attempt/attempt-context.ts';
import { failureOf, runCommand } from '../../attempt/run-command.ts';
import { ownProgram } from '../../own/own-program.ts';
import { closedFolder } from '../../processes/closed-folder.ts';
import { RunFailure } from '../../processes/failure.ts';
import { findKnownProgram, requireProgram, toolPath } from '../../processes/programs.ts';
import { type StopWatch, stopped } from '../../processes/stop-watch.ts';
import type { RequestedVersion, RequiredVersion } from '../../toolchain/choose-tool.ts';
import { takeKept } from '../../toolchain/fetch-release.ts';
import { type FoundTool, findTool, ToolProblem } from '../../toolchain/find-tool.ts';
import { platformFor } from '../../toolchain/python.ts';
import { findRequestedVersion } from './requested-version.ts';
import { asideOf } from './run-aside.ts';

export interface ToolNeeds {
  /** The version that made the approved plan, or the plan of an earlier level, which no other may replace. */
  readonly planned?: string;
  /** Those of companions that did, by name. */
  readonly plannedCompanions?: Readonly<Record<string, string>>;
  /** The constraints of the code on a program; called only if they determine its version. */
  readonly required?: (program: string) => Promise<readonly RequiredVersion[]>;
}

/** The tool that an attempt runs. */
export interface ResolvedTool {
  /** As its release or the program itself says; empty for a driver without a program. */
  readonly version: string;
  /** Absolute path of each program by name; empty if it was not found. */
  readonly paths: Readonly<Record<string, string>>;
  /** Versions of companions whose version template or code may request, by name. Absent: it has none. */
  readonly companions?: Readonly<Record<string, string>>;
}

/**
 * Finds the attempt's tool and the other programs of its driver, and fetches what is missing.
 * @throws RunFailure that names what is missing
 */
export async function resolveTool(
  attempt: AttemptContext,
  step: string,
  needs: ToolNeeds = {},
): Promise<ResolvedTool> {
  const { toolPaths } = attempt.order;
  const facts = toolFacts(attempt.driver.type);
  if (facts === undefined) return { version: '', paths: toolPaths };
  const tool = await resolveProgram(attempt, step, facts.program, needs);
  const paths: Record<string, string> = { ...toolPaths, [facts.program.name]: tool.path };
  const companions: Record<string, string> = {};
  for (const { program, version, isOptional, isFor } of facts.companions) {
    const { name } = program;
    if (isFor?.(attempt.job.settings) === false) continue;
    if (isOptional && !isRequested(attempt, program)) continue;
    if (program.release !== null && program.release === facts.program.release) {
      paths[name] = nextTo(tool.path, name, toolPaths);
      continue;
    }
    const found = await resolveProgram(attempt, step, program, companionNeeds(needs, name));
    paths[name] = found.path;
    if (version !== undefined) companions[name] = found.version;
  }
  const isAlone = Object.keys(companions).length === 0;
  return { version: tool.version, paths, ...(isAlone ? {} : { companions }) };
}

function companionNeeds({ required, plannedCompanions }: ToolNeeds, name: string): ToolNeeds {
  const planned = plannedCompanions?.[name];
  return planned === undefined ? { required } : { planned };
}

function isRequested({ environment }: AttemptContext, { versionVariables }: ProgramFacts): boolean {
  return versionVariables.some((name) => environment[name]?.trim());
}

/** A program of the same release; where the other one is a link, it is also sought where that leads. */
function nextTo(other: string, name: string, known: Readonly<Record<string, string>>): string {
  const path = join(dirname(other), name);
  return isExecutable(path) ? path : requireProgram(name, known);
}

/** Finds a program, and fetches it if it is missing. @throws RunFailure that says where it was sought */
export async function resolveProgram(
  attempt: AttemptContext,
  step: string,
  facts: ProgramFacts,
  needs: ToolNeeds,
): Promise<{ path: string; version: string }> {
  const { name, ownVersion } = facts;
  if (ownVersion !== undefined) return ownProgramOf(attempt, step, name, ownVersion);
  const { program: path, version, from } = await find(attempt, step, facts, needs);
  const reported = await versionOf(attempt, step, facts, path);
  const place = `${path}${from === 'PATH' ? '' : ', from the tool cache'}`;
  if (isNamedByPackage(facts) && from !== 'PATH') {
    attempt.steps.log(step, `${name} ${version} (${place}; it reports version ${reported})`);
    return { path, version };
  }
  if (reported !== version)
    throw failed(
      name,
      `${path} was published as ${name} ${version} but reports version ${reported}: its publisher must correct this`,
    );
  attempt.steps.log(step, `${name} ${version} (${place})`);
  return { path, version };
}

/** A program that is a role of the agent's. @throws RunFailure if the run's user cannot read the agent's files */
function ownProgramOf(
  attempt: AttemptContext,
  step: string,
  name: string,
  version: string,
): { path: string; version: string } {
  const files = attempt.order.slotUid === null ? [] : [ownProgram, process.execPath];
  const closed = files.map((file) => closedFolder(dirname(file))).find((folder) => folder !== null);
  if (closed !== undefined)
    throw failed(
      name,
      `${name} is a part of the agent, and the users of runs cannot read its program, because the folder ${closed} is ` +
        'closed to them: install the agent elsewhere, or open the folder to them (chmod o+x), then deploy again',
    );
  attempt.steps.log(step, `${name} ${version} (a part of the agent)`);
  return { path: process.execPath, version };
}

/** A package may have another version than the programs that it brings. */
function isNamedByPackage({ release }: ProgramFacts): boolean {
  return release?.kind === 'python';
}

/** The tool that planned; null if it cannot be found without running or fetching anything. */
export async function findLocalTool(attempt: AttemptContext, version: string): Promise<ResolvedTool | null> {
  const { toolPaths } = attempt.order;
  const facts = toolFacts(attempt.driver.type);
  if (facts === undefined) return { version, paths: toolPaths };
  if (facts.companions.length > 0) return null;
  const { name, ownVersion } = facts.program;
  if (ownVersion !== undefined)
    return ownVersion === version ? { version, paths: { ...toolPaths, [name]: process.execPath } } : null;
  const path = findKnownProgram(name, toolPaths);
  const program =
    path !== null && isKnownAs(attempt, path, version)
      ? path
      : await findInCache(attempt, facts.program, version);
  return program === null ? null : { version, paths: { ...toolPaths, [name]: program } };
}

async function findInCache(
  attempt: AttemptContext,
  { name, release }: ProgramFacts,
  version: string,
): Promise<string | null> {
  const order = attempt.order.toolchain;
  if (order === undefined || valid(version) === null) return null;
  using stopping = signalOf(attempt.stop);
  const context = { order, signal: stopping.signal, log: () => undefined };
  const program = await takeKept(context, { program: name, version, platform: platformFor(release) });
  return program !== null && isKnownAs(attempt, program, version) ? program : null;
}

function isKnownAs(attempt: AttemptContext, program: string, version: string): boolean {
  return knownVersions(attempt)[stampOf(program)] === version;
}

async function find(
  attempt: AttemptContext,
  step: string,
  facts: ProgramFacts,
  needs: ToolNeeds,
): Promise<FoundTool> {
  const { order, stop } = attempt;
  const { planned } = needs;
  const { name } = facts;
  const wanted: RequestedVersion =
    planned === undefined
      ? await findRequestedVersion(attempt, step, name)
      : { kind: 'exact', version: planned, by: 'the approved plan' };
  const path = findKnownProgram(name, order.toolPaths);
  const onPath = path === null ? null : { path, version: await versionOf(attempt, step, facts, path) };
  using stopping = signalOf(stop);
  try {
    return await findTool(
      {
        order: order.toolchain ?? null,
        signal: stopping.signal,
        log: (text) => attempt.steps.log(step, text),
        runAside: asideOf(attempt),
      },
      { name, wanted, onPath, required: async () => (await needs.required?.(name)) ?? [] },
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
  facts: ProgramFacts,
  program: string,
): Promise<string> {
  const { name } = facts;
  const known = knownVersions(attempt)[stampOf(program)];
  if (known !== undefined) return known;
  const label = `${name} version`;
  const captureTo = attempt.spool.scratchFile('tool-version');
  const end = await runCommand(attempt, {
    step,
    label,
    name,
    program,
    args: facts.versionArguments,
    captureTo,
    isDisposable: true,
    cwd: attempt.folders.temporary,
    environment: {
      PATH: toolPath,
      HOME: attempt.folders.home,
      TMPDIR: attempt.folders.temporary,
      CHECKPOINT_DISABLE: '1',
      INFRACOST_SKIP_UPDATE_CHECK: 'true',
    },
  });
  if (end.exitCode !== 0) throw failureOf(attempt, end, label, () => null);
  const version = readVersion(facts, program, readFileSync(captureTo, 'utf8'));
  rememberVersion(attempt, program, version);
  return version;
}

function readVersion(facts: ProgramFacts, program: string, output: string): string {
  try {
    return facts.readVersion(output);
  } catch (error) {
    throw failed(facts.name, `${program} does not report its version: ${(error as Error).message}`);
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

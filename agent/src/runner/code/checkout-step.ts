/**
 * Git in a run: the step `git:clone` with the guarded git code, and the gates through which commands load modules over
 * ssh and https without access to a key or a token.
 */
import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gitEnvironment, moduleGitEnvironment } from '#guards/git/git-environment.ts';
import type { RepositoryAccess } from '#guards/git/repository-access.ts';
import { serveRepository } from '#guards/git/serve-repository.ts';
import { sshProgramsIn } from '#guards/git/ssh.ts';
import type { Job } from '#protocol/messages/job.ts';
import type { AttemptContext } from '../../attempt/attempt-context.ts';
import { runCommand, sizeOf } from '../../attempt/run-command.ts';
import { RunFailure } from '../../processes/failure.ts';
import { findProgram, requireProgram, toolPath } from '../../processes/programs.ts';
import type { CheckoutRequest, GitCall, GitEnd } from '../../sources/git-calls.ts';
import { type CheckedOut, checkOut } from '../../sources/git-checkout.ts';
import { openGitGate } from '../../sources/git-gate.ts';
import { cloneArgumentsName, readCloneArguments } from '../../sources/partial-clone.ts';
import { openSshGate, type SshGate } from '../../sources/ssh-gate.ts';

const step = 'git:clone';
const silenceSeconds = 45;

/**
 * Clones the repository.
 * @returns the commit
 * @throws RunFailure that names the field
 */
export async function checkoutStep(attempt: AttemptContext): Promise<string> {
  return attempt.steps.run(step, async () => {
    const { source } = attempt.job;
    attempt.steps.log(
      step,
      `Cloning ${source.repository}${source.revision === undefined ? '' : `, revision ${source.revision}`}`,
    );
    const found = await cloneRepository(attempt);
    attempt.events.append({
      kind: 'git',
      commit: found.commit,
      branch: found.branch,
      timestamp: found.timestamp,
    });
    attempt.steps.log(step, `Commit ${found.commit} of ${found.branch}, ${found.timestamp}`);
    attempt.facts.add({ commit: found.commit });
    await checkPath(attempt);
    return found.commit;
  });
}

const lostCommit = 'the commit that was deployed is no longer there, as after a force push:';

/** Destroys and tasks use the commit that was deployed last, unless the request names another one. */
function lostCommitAdvice({ type, source }: Job): Pick<CheckoutRequest, 'ifMissing'> {
  if (!/^[0-9a-f]{40,64}$/.test(source.revision ?? '')) return {};
  if (type === 'task') return { ifMissing: `${lostCommit} push it again, or deploy an existing one` };
  if (type !== 'destroy') return {};
  return {
    ifMissing: `${lostCommit} push it again, or destroy with the newest commit of the revision, by checkoutUpdatedCode of the request (--latest-commit of the command line), and at the end of lifetimes by forceCheckoutOnTtlDestroy of the project's policy`,
  };
}

async function cloneRepository(attempt: AttemptContext): Promise<CheckedOut> {
  const program = requireProgram('git', attempt.order.toolPaths);
  try {
    const { tree } = attempt.folders;
    const { environment } = attempt;
    return await checkOut({
      source: attempt.job.source,
      ...lostCommitAdvice(attempt.job),
      folder: tree,
      path: attempt.path,
      git: (call) => runGit(attempt, program, call),
      cloneArguments: readCloneArguments(environment[cloneArgumentsName]),
      skipsSubmodules: environment.ENVARIUM_SKIP_SUBMODULE_GIT_CLONE === 'true',
      hasLfs: findProgram('git-lfs') !== null,
      kindOf: (path) => attempt.tree.kind(tree, path),
      beginningOf: (path) => beginningOf(attempt, path),
      bytesOf: (path, most) => attempt.tree.piece(tree, path, 0, most).catch(() => null),
      namesIn: (path) => attempt.tree.list(tree, path).catch(() => []),
      codeIn: (path) => codeIn(attempt, path),
      log: (text) => attempt.steps.log(step, text),
    });
  } catch (error) {
    if (error instanceof RunFailure) throw error;
    throw new RunFailure((error as Error).message, { result: 'failed', failedCommand: 'git clone' });
  }
}

async function beginningOf(attempt: AttemptContext, path: string): Promise<string | null> {
  const bytes =
    (await attempt.tree.kind(attempt.folders.tree, path)) === 'file'
      ? await attempt.tree.piece(attempt.folders.tree, path, 0, 200)
      : null;
  return bytes === null ? null : Buffer.from(bytes).toString('latin1');
}

async function codeIn(attempt: AttemptContext, path: string): Promise<string[]> {
  const { codeFiles } = attempt.driver;
  if (codeFiles === undefined) return [];
  const reader = attempt.tree.reader(attempt.folders.tree);
  const names = (await reader.list(path)).filter((name) => codeFiles.test(name));
  const texts = await Promise.all(names.map((name) => reader.text(join(path, name)).catch(() => null)));
  return texts.filter((text) => text !== null);
}

async function checkPath(attempt: AttemptContext): Promise<void> {
  const { path } = attempt;
  const { repository } = attempt.job.source;
  const kind = path === '' ? 'folder' : await attempt.tree.kind(attempt.folders.tree, path);
  const refuse = (reason: string) =>
    new RunFailure(`path ${JSON.stringify(path)} ${reason}: specify a folder of ${repository}`);
  if (kind === 'outside') throw refuse('leads outside the repository through a symbolic link');
  if (kind === 'none') throw refuse('does not exist in the repository at this revision');
  if (kind !== 'folder') throw refuse('is not a folder');
}

let captured = 0;

async function runGit(attempt: AttemptContext, program: string, call: GitCall): Promise<GitEnd> {
  const captureTo = call.isCaptured ? attempt.spool.scratchFile(`git-output-${++captured}`) : undefined;
  const { access } = call;
  const log = attempt.spool.stepLog(step);
  let served: Promise<void | Error> | undefined;
  let silence: Silence | undefined;
  if (access?.kind === 'ssh') requireProgram('ssh');
  const readable = readableToGit(attempt);
  const environment = environmentOf(attempt, access);
  const needsGate = access?.kind === 'ssh' && call.connectsItself === true;
  await using gate = needsGate ? await openGate(attempt) : null;
  const own =
    call.connectsItself === true
      ? { GIT_NO_LAZY_FETCH: '0', ...(needsGate ? { GIT_ALLOW_PROTOCOL: 'ssh' } : {}) }
      : {};
  const end = await runCommand(attempt, {
    step,
    label: call.label,
    name: 'git',
    program,
    args: call.args,
    captureTo,
    cwd: attempt.folders.root,
    environment: { ...environment, ...own, ...gate?.environment },
    readable: [...readable, ...(gate?.readable ?? [])],
    needsNetwork: true,
    isDisposable: true,
    hasChannel: !needsGate && (access?.kind === 'local' || access?.kind === 'ssh'),
    onStart: (client) => {
      // Other commands print nothing while they work, and end when a host falls silent.
      const showsProgress = call.args.includes('--progress');
      if (showsProgress && (access?.kind === 'web' || access?.kind === 'ssh'))
        silence = endOnSilence(client, log);
      if (access === undefined || access.kind === 'web' || needsGate) return;
      served = serveRepository({
        repository: access,
        client,
        log,
        program,
        environment: environmentOf(attempt, undefined),
        folder: attempt.spool.scratch,
      }).catch((error: Error) => error);
    },
  });
  const failed = await served;
  if (failed instanceof Error) throw failed;
  if (end.stop !== null) throw new RunFailure(end.stop.message, { result: end.stop.result });
  if (silence?.isOver()) return { exitCode: 1, signal: null, output: 'timed out' };
  return {
    exitCode: end.exitCode,
    signal: end.signal,
    output:
      end.exitCode !== 0 ? end.output() : captureTo === undefined ? '' : readFileSync(captureTo, 'utf8'),
  };
}

function readableToGit({ order }: AttemptContext): string[] {
  const caFile = order.network?.caFile;
  return caFile === undefined ? [] : [caFile];
}

interface Silence {
  isOver(): boolean;
}

/**
 * Ends git when it shows no progress: it would wait minutes for a host that never accepts a connection, and
 * has no setting to limit that.
 */
function endOnSilence(client: ChildProcess, log: string): Silence {
  let size = sizeOf(log);
  let since = performance.now();
  let isOver = false;
  const timer = setInterval(() => {
    const now = sizeOf(log);
    if (now !== size) since = performance.now();
    size = now;
    if (performance.now() - since < silenceSeconds * 1000) return;
    isOver = true;
    client.kill('SIGTERM');
  }, 1000);
  client.once('exit', () => clearInterval(timer));
  return { isOver: () => isOver };
}

function environmentOf(
  attempt: AttemptContext,
  access: RepositoryAccess | undefined,
): Record<string, string> {
  const isWeb = access?.kind === 'web';
  const scheme = isWeb ? new URL(access.url).protocol.replace(':', '') : 'fd';
  const network = isWeb ? attempt.order.network?.environment : {};
  const environment = gitEnvironment({
    configurationFile: attempt.folders.gitConfig,
    home: attempt.folders.home,
    path: toolPath,
    protocols: access === undefined ? 'none' : scheme,
    followsRedirects: true,
    ...(isWeb ? { url: access.url, credentials: access.credentials } : {}),
  });
  return { ...network, ...environment };
}

/** The protocols that git may use while it loads modules. */
const protocols = 'https:http:file:ssh';

/** Opens the gate for one command of the run. @throws RunFailure if it cannot be opened */
async function openGate(attempt: AttemptContext): Promise<SshGate> {
  const { job, folders, order, spool } = attempt;
  try {
    return await openSshGate({
      source: job.source,
      programs: sshProgramsIn(spool.scratch),
      folder: join(folders.root, 'ssh-gate'),
      sharedFolder: order.workFolder,
      slotUid: order.slotUid,
    });
  } catch (error) {
    throw new RunFailure((error as Error).message);
  }
}

/** Environment of a command that loads modules. */
export interface ModuleGate extends AsyncDisposable {
  readonly environment: Readonly<Record<string, string>>;
  /** Paths that a sandbox must make visible to it. */
  readonly readable: readonly string[];
}

/**
 * Opens the gates for a command that loads modules: over https, and over ssh if the job has settings for it.
 * @throws RunFailure if one cannot be opened; none is left open
 */
export async function openModuleGate(attempt: AttemptContext): Promise<ModuleGate> {
  const { source } = attempt.job;
  await using gates = new AsyncDisposableStack();
  const web = gates.use(await openGitGate(source));
  const hasSsh = source.ssh !== undefined && source.areCredentialsForCheckoutOnly !== true;
  const ssh = hasSsh ? gates.use(await openGate(attempt)) : null;
  const environment = {
    ...moduleGitEnvironment(attempt.folders.gitConfig, web.settings),
    ...(ssh === null ? {} : { ...ssh.environment, GIT_ALLOW_PROTOCOL: protocols }),
  };
  const opened = gates.move();
  return {
    environment,
    readable: ssh?.readable ?? [],
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

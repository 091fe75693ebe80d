/** The step `git:clone`: the repository into the tree, by the guarded git code. */
import type { ChildProcess } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { normalizePath } from '#protocol/source-guards.ts';
import { type CheckedOut, checkOut, type GitCall, type GitEnd, type Reached } from '../sources/git-checkout.ts';
import { gitConfiguration, gitEnvironment } from '../sources/git-environment.ts';
import { serveLocalRepository } from '../sources/serve-local-repository.ts';
import { type Attempt, inStep, runCommand, say, scratchPath, sizeOf, warn } from './attempt.ts';
import { RunFailure } from './failure.ts';
import { requireProgram, toolPath } from './programs.ts';

const step = 'git:clone';
const silenceSeconds = 45;

/**
 * Clones and checks the path.
 * @returns the configuration's folder relative to the tree, `''` for the root
 * @throws RunFailure that names the field
 */
export async function checkoutStep(attempt: Attempt): Promise<string> {
  return inStep(attempt, step, async () => {
    const { source } = attempt.job;
    say(attempt, step, `Cloning ${source.repository}${source.revision === undefined ? '' : `, revision ${source.revision}`}`);
    const found = await cloneRepository(attempt);
    attempt.facts.commit = found.commit;
    attempt.events.append({ kind: 'git', commit: found.commit, branch: found.branch, timestamp: found.timestamp });
    say(attempt, step, `Commit ${found.commit} of ${found.branch}, ${found.timestamp}`);
    return checkPath(attempt);
  });
}

async function cloneRepository(attempt: Attempt): Promise<CheckedOut> {
  const program = requireProgram('git', attempt.toolPaths);
  writeFileSync(attempt.folders.gitConfig, gitConfiguration);
  // Readable to the slot whatever the agent's umask says.
  chmodSync(attempt.folders.gitConfig, 0o644);
  try {
    return await checkOut({ source: attempt.job.source, folder: attempt.folders.tree, git: (call) => runGit(attempt, program, call) });
  } catch (error) {
    if (error instanceof RunFailure) throw error;
    throw new RunFailure((error as Error).message, { result: 'failed', failedCommand: 'git clone' });
  }
}

async function checkPath(attempt: Attempt): Promise<string> {
  const path = normalizePath(attempt.job.source.path ?? '');
  const { repository } = attempt.job.source;
  const kind = path === '' ? 'folder' : await attempt.tree.kind(attempt.folders.tree, path);
  const refuse = (reason: string) => new RunFailure(`path ${JSON.stringify(path)} ${reason}: give a folder of ${repository}`);
  if (kind === 'outside') throw refuse('leads outside of the repository through a symbolic link');
  if (kind === 'none') throw refuse('does not exist in the repository at this revision');
  if (kind !== 'folder') throw refuse('is not a folder');
  if ((await attempt.tree.kind(attempt.folders.tree, '.gitmodules')) === 'file') {
    warn(attempt, step, 'the repository has submodules, which are not fetched; what they hold is missing');
  }
  return path;
}

async function runGit(attempt: Attempt, program: string, call: GitCall): Promise<GitEnd> {
  const captureTo = call.isCaptured ? scratchPath(attempt, 'git-output') : undefined;
  const { reaches } = call;
  const log = attempt.spool.stepLog(step);
  let served: Promise<void> | undefined;
  let silence: Silence | undefined;
  const end = await runCommand(attempt, {
    step,
    label: call.label,
    name: 'git',
    program,
    args: call.args,
    captureTo,
    cwd: attempt.folders.root,
    environment: environmentOf(attempt, reaches),
    hasChannel: reaches?.kind === 'local',
    onStart: (client) => {
      if (reaches?.kind === 'web') silence = endOnSilence(client, log);
      if (reaches?.kind === 'local')
        served = serveLocalRepository({ program, repository: reaches, client, environment: environmentOf(attempt, undefined), log });
    },
  });
  await served;
  if (end.stop !== null) throw new RunFailure(end.stop.message, { result: end.stop.result });
  if (silence?.isOver())
    throw new RunFailure(
      `repository ${attempt.job.source.repository} does not answer: check its address, and whether the agent can reach it`,
      { result: 'failed', failedCommand: call.label },
    );
  return { exitCode: end.exitCode, output: captureTo !== undefined && end.exitCode === 0 ? readFileSync(captureTo, 'utf8') : end.output() };
}

interface Silence {
  isOver(): boolean;
}

/** Ends a git that shows no progress: it waits minutes for a host that never accepts a connection, and no setting of its own ends that. */
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

function environmentOf(attempt: Attempt, reaches: Reached | undefined): Record<string, string> {
  const { source } = attempt.job;
  const isWeb = reaches?.kind === 'web';
  const scheme = isWeb ? new URL(reaches.url).protocol.replace(':', '') : 'fd';
  return gitEnvironment({
    configurationFile: attempt.folders.gitConfig,
    home: attempt.folders.home,
    path: toolPath,
    protocols: reaches === undefined ? 'none' : scheme,
    ...(isWeb ? { url: reaches.url, credentials: source.credentials } : {}),
  });
}

/** Lets a command load modules over ssh and https without access to a key or a token. */
import { join } from 'node:path';
import { moduleGitEnvironment } from '#guards/git/git-environment.ts';
import { sshProgramsIn } from '#guards/git/ssh.ts';
import type { AttemptContext } from '../../attempt/attempt-context.ts';
import { RunFailure } from '../../processes/failure.ts';
import { openGitGate } from '../../sources/git-gate.ts';
import { openSshGate, type SshGate } from '../../sources/ssh-gate.ts';

/** The protocols that git may use while it loads modules. */
const protocols = 'https:http:file:ssh';

/** Opens the gate for one command of the run. @throws RunFailure if it cannot be opened */
export async function openGate(attempt: AttemptContext): Promise<SshGate> {
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

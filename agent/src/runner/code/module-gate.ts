/** Lets a command load modules over ssh without access to a key. */
import { join } from 'node:path';
import { openSshGate, type SshGate } from '../../sources/ssh-gate.ts';
import type { AttemptContext } from '../../attempt/attempt-context.ts';
import { scratchPath } from '../../attempt/attempt-log.ts';
import { RunFailure } from '../../processes/failure.ts';
import { findProgram } from '../../processes/programs.ts';

/** The protocols that git may use while it loads modules. */
const protocols = 'https:http:file:ssh';

/** How the agent starts ssh for this attempt; during a call, keys are in the attempt's scratch folder. */
export function sshPrograms(attempt: AttemptContext) {
  const setpriv = findProgram('setpriv');
  return {
    ssh: findProgram('ssh') ?? '/usr/bin/ssh',
    launcher: setpriv === null ? [] : [setpriv, '--pdeathsig', 'TERM', '--'],
    folder: join(scratchPath(attempt, 'ssh'), '..'),
  };
}

/** Opens the gate for one command of the run. @throws RunFailure if it cannot be opened */
export async function openGate(attempt: AttemptContext): Promise<SshGate> {
  const { job, folders, order } = attempt;
  try {
    return await openSshGate({
      source: job.source,
      programs: sshPrograms(attempt),
      folder: join(folders.root, 'ssh-gate'),
      sharedFolder: order.workFolder,
      slotUid: order.slotUid,
    });
  } catch (error) {
    throw new RunFailure((error as Error).message);
  }
}

/** Opens the gate for a command that loads modules; null if the job has no ssh settings. */
export async function openModuleGate(attempt: AttemptContext): Promise<SshGate | null> {
  if (attempt.job.source.ssh === undefined) return null;
  const gate = await openGate(attempt);
  const { readable } = gate;
  return {
    environment: { ...gate.environment, GIT_ALLOW_PROTOCOL: protocols },
    readable,
    [Symbol.asyncDispose]: () => gate[Symbol.asyncDispose](),
  };
}

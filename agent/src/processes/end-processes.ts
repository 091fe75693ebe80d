/** Ends every process of a slot's uid before and after each attempt, so that nothing outlives its run. */
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

const killPrograms = ['/usr/bin/kill', '/bin/kill'];

/**
 * Kills all processes of a uid and waits until they have ended. Needs root; never called for root's own uid.
 * @param deadlineMilliseconds how long a killed process may take to end (one in an uninterruptible sleep
 * cannot)
 * @throws an Error that names the remaining processes
 */
export async function endProcessesOf(uid: number, deadlineMilliseconds = 10_000): Promise<void> {
  if (uid <= 0) throw new Error(`refusing to end all processes of uid ${uid}`);
  const deadline = performance.now() + deadlineMilliseconds;
  await killAllAs(uid);
  for (let left = processesOf(uid); left.length > 0; left = processesOf(uid)) {
    if (performance.now() > deadline)
      throw new Error(
        `processes ${left.join(', ')} of slot uid ${uid} do not end: they may be waiting for a device or a network file system`,
      );
    await delay(5);
    await killAllAs(uid);
  }
}

/** @returns the pids whose real, effective or saved uid is this one, without zombies */
export function processesOf(uid: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && belongsTo(name, uid))
    .map(Number);
}

function belongsTo(pid: string, uid: number): boolean {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    if (/^State:\s+[ZX]/m.test(status)) return false;
    const uids = /^Uid:\s+(.*)$/m.exec(status)?.[1]?.split(/\s+/) ?? [];
    return uids.includes(String(uid));
  } catch {
    return false;
  }
}

// One signal to -1 ("every process that I may signal"), sent as that user: a process that keeps forking
// could escape from a list of pids.
function killAllAs(uid: number): Promise<void> {
  const program = killPrograms.find((path) => existsSync(path));
  if (program === undefined) return Promise.resolve(processesOf(uid).forEach(killQuietly));
  return new Promise((resolve, reject) => {
    const child = spawn(program, ['-KILL', '--', '-1'], {
      uid,
      gid: uid,
      stdio: 'ignore',
      env: {},
      cwd: '/',
    });
    child.once('error', reject);
    child.once('exit', () => resolve());
  });
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has already ended.
  }
}

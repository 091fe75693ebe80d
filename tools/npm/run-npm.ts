/** Runs npm, wherever it is: the Node that the lockfile pins comes without one. */
import { execFile } from 'node:child_process';
import { root } from '../tree/repository.ts';
import { findNpm } from './install.mjs';

/** Exit of npm. */
export interface NpmResult {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs npm in the checkout.
 * @param environment variables to set in addition to ours
 * @throws Error when there is no npm
 */
export function runNpm(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<NpmResult> {
  const npm = findNpm(root);
  if (!npm) throw new Error('npm was not found, neither next to Node nor on the PATH.');
  const env = { ...process.env, ...environment };
  return new Promise((resolve) => {
    const options = { cwd: root, env, maxBuffer: 64 * 1024 * 1024, timeout: 300_000 };
    execFile(npm.program, [...npm.args, ...args], options, (error, stdout, stderr) => {
      const status = error === null ? 0 : typeof error.code === 'number' ? error.code : null;
      resolve({ status, stdout, stderr });
    });
  });
}

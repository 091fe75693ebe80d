/** The Python of this machine, for releases that are packages. */
import { realpathSync } from 'node:fs';
import { basename } from 'node:path';
import type { ReleaseFacts } from '#protocol/tools/programs/program.ts';
import { ownPlatform } from '../own/own-platform.ts';
import { findProgram } from '../processes/programs.ts';

/** Remedy if it is missing or incomplete. */
export const pythonAdvice =
  "install python3 with its modules venv and ensurepip (on Debian the package python3-venv) on the agent's machine";

/** @returns the absolute path; null if it is not installed */
export function findPython(): string | null {
  return findProgram('python3');
}

/**
 * Platform of a release. Installed packages belong to one version of Python: after a change of it they are
 * installed again.
 */
export function platformFor(release: ReleaseFacts | null): string {
  if (release?.kind !== 'python') return ownPlatform;
  const python = findPython();
  const name = python === null ? '' : basename(realpathSync(python));
  return `${ownPlatform}_${/^python3\.\d+$/.test(name) ? name : 'python3'}`;
}

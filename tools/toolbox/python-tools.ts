/** Installs the programs that tests run and PyPI provides, each into an environment of its own in the toolbox. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { findOnPath } from '#guards/find-on-path.ts';
import { ToolboxError, waitForLock } from './build.ts';
import {
  type PythonToolName,
  pythonFolder,
  pythonProgram,
  pythonPrograms,
  pythonRequirements,
} from './places.ts';

const run = promisify(execFile);

/** @param what fails where the command does, as the beginning of a sentence */
async function execute(program: string, args: readonly string[], what: string): Promise<void> {
  try {
    await run(program, [...args], { maxBuffer: 10_000_000 });
  } catch (cause) {
    const { stderr = '' } = cause as { stderr?: string };
    throw new ToolboxError(`${what} failed: ${stderr.trimEnd().slice(-2000)}`, { cause });
  }
}

/**
 * The Python to make environments of. Of root's, one that other users may execute comes first: runs of an agent
 * started by root have their own users.
 */
async function findPython(): Promise<string> {
  for (const python of process.getuid?.() === 0 ? ['/usr/bin/python3', 'python3'] : ['python3']) {
    const canMake = run(python, ['-c', 'import venv, ensurepip']).then(
      () => true,
      () => false,
    );
    if (await canMake) return python;
  }
  throw new ToolboxError(
    'There is no python3 on the PATH that has its modules venv and ensurepip: install them (package "python3-venv").',
  );
}

/**
 * Installs a tool unless it is installed; of moto, one on the PATH is enough for the tests. A second caller
 * waits for the first.
 * @param say called before anything that takes long
 * @throws ToolboxError with the last lines of the failed command
 */
export async function installPythonTool(
  name: PythonToolName,
  say: (text: string) => void,
): Promise<{ program: string; isNew: boolean }> {
  const folder = pythonFolder(name);
  const known = pythonProgram(name) ?? (name === 'moto' ? findOnPath(pythonPrograms[name][0]) : null);
  if (known) return { program: known, isNew: false };
  await mkdir(dirname(folder), { recursive: true, mode: 0o755 });
  await using _ = await waitForLock(dirname(folder), say);
  const installed = pythonProgram(name);
  if (installed) return { program: installed, isNew: false };
  say(`Installing ${name} into ${folder} …`);
  // Programs of such an environment name its path: it is made in its place, and counts once the mark is
  // there.
  await rm(folder, { recursive: true, force: true });
  await execute(await findPython(), ['-m', 'venv', '--', folder], `Making an environment for ${name}`);
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-input'];
  const pinned = ['--require-hashes', '--only-binary=:all:', '--no-deps', '-r', pythonRequirements(name)];
  await execute(join(folder, 'bin', 'python'), [...pip, ...pinned], `Installing ${name} with pip`);
  const programs = pythonPrograms[name].map((program) => join(folder, 'bin', program));
  const missing = programs.filter((program) => !existsSync(program));
  if (missing.length > 0) throw new ToolboxError(`${name} was installed, but without ${missing.join(', ')}`);
  await writeFile(join(folder, '.complete'), '');
  return { program: programs[0] ?? folder, isNew: true };
}

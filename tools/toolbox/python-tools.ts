/** Installs the programs that tests run and PyPI provides, each into an environment of its own in the toolbox. */
import { execFile } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { ToolboxError, waitForLock } from './build.ts';
import {
  pythonFolder,
  pythonProgram,
  pythonPrograms,
  pythonRequirements,
  type PythonToolName,
} from './places.ts';

const run = promisify(execFile);

async function python(args: readonly string[], what: string): Promise<void> {
  try {
    await run('python3', [...args], { maxBuffer: 10_000_000 });
  } catch (cause) {
    const { code, stderr = '' } = cause as { code?: unknown; stderr?: string };
    const reason =
      code === 'ENOENT'
        ? 'python3 is not on the PATH: install it, with its module venv.'
        : stderr.trimEnd().slice(-2000);
    throw new ToolboxError(`${what} failed: ${reason}`, { cause });
  }
}

async function onPath(program: string): Promise<string | null> {
  return run('sh', ['-c', 'command -v -- "$1"', 'sh', program]).then(
    ({ stdout }) => stdout.trim(),
    () => null,
  );
}

/**
 * Installs a program unless it is installed or on the PATH. A second caller waits for the first.
 * @param say called before anything that takes long
 * @throws ToolboxError with the last lines of the failed command
 */
export async function installPythonTool(
  name: PythonToolName,
  say: (text: string) => void,
): Promise<{ program: string; isNew: boolean }> {
  const folder = pythonFolder(name);
  const known = pythonProgram(name) ?? (await onPath(pythonPrograms[name]));
  if (known) return { program: known, isNew: false };
  await mkdir(dirname(folder), { recursive: true, mode: 0o755 });
  await using _ = await waitForLock(dirname(folder), say);
  const meanwhile = pythonProgram(name);
  if (meanwhile) return { program: meanwhile, isNew: false };
  say(`Installing ${name} into ${folder} …`);
  // Programs of such an environment name its path: it is made in its place, and counts once the mark is
  // there.
  await rm(folder, { recursive: true, force: true });
  await python(['-m', 'venv', '--', folder], `Making an environment for ${name}`);
  const pip = [
    join(folder, 'bin', 'python'),
    '-m',
    'pip',
    'install',
    '--quiet',
    '--disable-pip-version-check',
    '--no-input',
  ];
  const install = [
    ...pip.slice(1),
    '--require-hashes',
    '--only-binary=:all:',
    '--no-deps',
    '-r',
    pythonRequirements(name),
  ];
  await run(pip[0] as string, install, { maxBuffer: 10_000_000 }).catch((cause: { stderr?: string }) => {
    throw new ToolboxError(`pip could not install ${name}: ${(cause.stderr ?? '').trimEnd().slice(-2000)}`, {
      cause,
    });
  });
  await writeFile(join(folder, '.complete'), '');
  const program = pythonProgram(name);
  if (!program)
    throw new ToolboxError(
      `${name} was installed into ${folder}, but there is no program ${pythonPrograms[name]}`,
    );
  return { program, isNew: true };
}

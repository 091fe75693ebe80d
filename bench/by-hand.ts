/** The same commands without the service, in a script of a few lines. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const script = fileURLToPath(new URL('./by-hand.sh', import.meta.url));

/**
 * Runs the script once in a fresh folder.
 * @param folder where that folder is made
 * @returns how long it took, in milliseconds
 * @throws Error when one of its commands fails
 */
export async function runByHand(folder: string, repository: string): Promise<number> {
  const cwd = await mkdtemp(join(folder, 'by-hand-'));
  const env = {
    PATH: process.env.PATH,
    HOME: cwd,
    TF_IN_AUTOMATION: '1',
    CHECKPOINT_DISABLE: '1',
    TF_CLI_CONFIG_FILE: '/dev/null',
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'safe.directory',
    GIT_CONFIG_VALUE_0: '*',
  };
  const startedAt = performance.now();
  await run('sh', [script, repository], { cwd, env });
  const milliseconds = performance.now() - startedAt;
  await rm(cwd, { recursive: true });
  return milliseconds;
}

/** The same commands without the service, in a script of a few lines. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const script = fileURLToPath(new URL('./by-hand.sh', import.meta.url));
const scriptOfUnits = fileURLToPath(new URL('./units-by-hand.sh', import.meta.url));

const environmentOf = (home: string) => ({
  PATH: process.env.PATH,
  HOME: home,
  TF_IN_AUTOMATION: '1',
  CHECKPOINT_DISABLE: '1',
  TF_CLI_CONFIG_FILE: '/dev/null',
  GIT_CONFIG_COUNT: '1',
  GIT_CONFIG_KEY_0: 'safe.directory',
  GIT_CONFIG_VALUE_0: '*',
});

/**
 * Runs the script many times, several at once, each in a folder of its own.
 * @returns how long all took, in milliseconds
 * @throws Error when one of them fails
 */
export async function manyByHand(
  folder: string,
  repository: string,
  { count, width }: { readonly count: number; readonly width: number },
): Promise<number> {
  const place = await mkdtemp(join(folder, 'by-hand-'));
  const names = Array.from({ length: count }, (_, index) => join(place, String(index)));
  for (const name of names) await mkdir(name);
  await writeFile(join(place, 'all'), `${names.join('\n')}\n`);
  const once = 'cd "$2" && exec sh "$0" "$1" >"$2/log" 2>&1';
  const args = [
    '-a',
    join(place, 'all'),
    '-P',
    String(width),
    '-n',
    '1',
    'sh',
    '-c',
    once,
    script,
    repository,
  ];
  const startedAt = performance.now();
  await run('xargs', args, { cwd: place, env: environmentOf(place) });
  const milliseconds = performance.now() - startedAt;
  await rm(place, { recursive: true });
  return milliseconds;
}

/**
 * Runs the script once in a fresh folder.
 * @param folder where that folder is made
 * @returns how long it took, in milliseconds
 * @throws Error when one of its commands fails
 */
export function runByHand(folder: string, repository: string): Promise<number> {
  return runScript(script, folder, [repository]);
}

/**
 * Runs the script again on the state of the previous run.
 * @param stateFolder where the state is kept
 * @param text value of the variable `text`
 */
export function redeployByHand(
  folder: string,
  repository: string,
  stateFolder: string,
  text: string,
): Promise<number> {
  return runScript(script, folder, [repository, stateFolder], { TF_VAR_text: text });
}

/**
 * The same for the units of a repository.
 * @param path with terragrunt and OpenTofu
 */
export function deployUnitsByHand(folder: string, repository: string, path: string): Promise<number> {
  return runScript(scriptOfUnits, folder, [repository], {
    PATH: path,
    TG_TF_PATH: 'tofu',
    TG_NO_COLOR: 'true',
  });
}

/**
 * Runs the script and the service one after the other: in turn, since what runs first is at an advantage or a disadvantage.
 * @param byHand milliseconds of the script
 */
export async function besideScript<Ours>(
  isScriptFirst: boolean,
  byHand: () => Promise<number>,
  ours: () => Promise<Ours>,
): Promise<{ readonly ours: Ours; readonly byHand: number }> {
  const before = isScriptFirst ? await byHand() : null;
  const result = await ours();
  return { ours: result, byHand: before ?? (await byHand()) };
}

async function runScript(
  file: string,
  folder: string,
  args: readonly string[],
  variables: Readonly<Record<string, string>> = {},
): Promise<number> {
  const cwd = await mkdtemp(join(folder, 'by-hand-'));
  const startedAt = performance.now();
  const env = { ...environmentOf(cwd), ...variables };
  await run('sh', [file, ...args], { cwd, env, maxBuffer: 1e9 });
  const milliseconds = performance.now() - startedAt;
  await rm(cwd, { recursive: true });
  return milliseconds;
}

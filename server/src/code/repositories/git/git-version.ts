/** Whether git keeps to the addresses that were checked: it has `http.curloptResolve` since 2.37, and older ones ignore it. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const least = [2, 37] as const;
const limitMilliseconds = 10_000;

/** Programs that were found to be new enough; others are run again, so that an update needs no restart. */
const good = new Set<string>();

/**
 * @param program absolute path of git
 * @returns why the service does not read from the web with it, and what to do; undefined if it does
 */
export async function problemOfGit(program: string): Promise<string | undefined> {
  if (good.has(program)) return undefined;
  const options = { timeout: limitMilliseconds, env: {} };
  const { stdout } = await promisify(execFile)(program, ['version'], options).catch(() => ({ stdout: '' }));
  const [, version = 'of an unknown version', major, minor] =
    /^git version ((\d+)\.(\d+)\S*)/.exec(stdout) ?? [];
  if (Number(major) > least[0] || (Number(major) === least[0] && Number(minor) >= least[1])) {
    good.add(program);
    return undefined;
  }
  return (
    `The service has git ${version}, which resolves the names of hosts again after they were checked, so that it does ` +
    `not read repositories on the web with it: install git ${least.join('.')} or later on the machine of the service`
  );
}

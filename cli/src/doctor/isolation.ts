/** Isolation of runs: bubblewrap and user namespaces, or separate user ids if the agent is started as root. */
import { access, constants, readFile, statfs } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { CommandEnvironment } from '../session/settings.ts';
import { type Finding, ok, problem, warning } from './finding.ts';
import { runProgram } from './run-program.ts';

const text = (file: string) => readFile(file, 'utf8').catch(() => null);

/** Kernel switches that deny user namespaces to ordinary users, with the value that does so. */
const switches = [
  ['/proc/sys/user/max_user_namespaces', '0', 'sysctl user.max_user_namespaces=15000'],
  ['/proc/sys/kernel/unprivileged_userns_clone', '0', 'sysctl kernel.unprivileged_userns_clone=1'],
  [
    '/proc/sys/kernel/apparmor_restrict_unprivileged_userns',
    '1',
    'an AppArmor profile for bwrap, or sysctl kernel.apparmor_restrict_unprivileged_userns=0',
  ],
] as const;

async function checkNamespaces(): Promise<Finding> {
  for (const [file, bad, remedy] of switches)
    if ((await text(file))?.trim() === bad)
      return warning(
        'user namespaces',
        `are disabled by ${file}`,
        `Bubblewrap needs them unless the agent runs as root: ${remedy}.`,
      );
  return ok('user namespaces', 'are available');
}

const tryOut = [
  '--unshare-user',
  '--unshare-pid',
  '--unshare-ipc',
  '--ro-bind',
  '/',
  '/',
  '--proc',
  '/proc',
  '--dev',
  '/dev',
  '--',
  'true',
];

/** Without namespaces, root still confines runs by user ids, which is weaker. */
async function checkBubblewrap(isRoot: boolean, environment: CommandEnvironment): Promise<Finding> {
  const { status, output } = await runProgram('bwrap', tryOut);
  if (status === 0) return ok('bubblewrap', 'works');
  const found =
    status === null ? 'is not on the PATH' : `cannot be used: ${output.trim().split('\n')[0] ?? ''}`;
  if (environment.ENVARIUM_ISOLATION === 'required')
    return problem(
      'bubblewrap',
      found,
      'ENVARIUM_ISOLATION is "required": an agent does not start without it.',
    );
  return warning(
    'bubblewrap',
    found,
    isRoot
      ? 'Without it, runs have user ids of their own, but see processes and temporary files of other runs: install it.'
      : "Without it, runs have the rights of the agent's user and can read its files: install it.",
  );
}

interface SystemAccount {
  readonly name: string;
  readonly uid: number;
}

/** Accounts of a passwd file. */
function accountsOf(passwd: string): SystemAccount[] {
  return passwd.split('\n').flatMap((line) => {
    const [name = '', , uid = ''] = line.split(':');
    return /^\d+$/.test(uid) ? [{ name, uid: Number(uid) }] : [];
  });
}

const defaults = { base: 58_000, count: 1_000, concurrency: 2 } as const;

function numberOf(value: string | undefined, fallback: number): number {
  return value !== undefined && /^\d{1,10}$/.test(value) ? Number(value) : fallback;
}

/** Most runs at the same time: the agent takes fewer where the memory does not suffice. */
function concurrencyOf(value: string | undefined): number {
  return value === 'auto' ? availableParallelism() * 2 : numberOf(value, defaults.concurrency);
}

/**
 * The user ids of runs: none may belong to an account, and every slot needs one.
 * @param passwd text of the passwd file
 * @param environment as the agent would get it
 */
export function checkUids(passwd: string, environment: CommandEnvironment): Finding {
  const base = numberOf(environment.ENVARIUM_SLOT_UID_BASE, defaults.base);
  const count = numberOf(environment.ENVARIUM_SLOT_UID_COUNT, defaults.count);
  const concurrency = concurrencyOf(environment.ENVARIUM_AGENT_CONCURRENCY);
  const range = `${base} to ${base + count - 1}`;
  const taken = accountsOf(passwd).filter(({ uid }) => uid >= base && uid < base + count);
  const free = count - new Set(taken.map(({ uid }) => uid)).size;
  const advice = 'Set another range with ENVARIUM_SLOT_UID_BASE and ENVARIUM_SLOT_UID_COUNT.';
  if (free < concurrency)
    return problem(
      'user ids',
      `only ${free} of ${range} are free, but ${concurrency} concurrent runs need one each`,
      advice,
    );
  if (taken.length === 0) return ok('user ids', `${range} belong to no account`);
  const names = taken.slice(0, 3).map(({ name, uid }) => `${name} (${uid})`);
  return warning(
    'user ids',
    `the range of runs (${range}) contains accounts: ${names.join(', ')}; runs do not use their ids`,
    advice,
  );
}

/** PostgreSQL refuses to create a database for users without an entry, as in containers with a random user id. */
export function checkOwnEntry(passwd: string, uid: number): Finding {
  const accounts = accountsOf(passwd);
  const wanted =
    uid === 0 ? accounts.find(({ name }) => name === 'nobody') : accounts.find((one) => one.uid === uid);
  if (wanted)
    return ok(
      'account',
      uid === 0 ? 'root; the embedded PostgreSQL runs as nobody' : `${wanted.name} (${uid})`,
    );
  const who = uid === 0 ? 'There is no account "nobody"' : `The user id ${uid} has no account`;
  return warning(
    'account',
    `${who} in /etc/passwd`,
    'The embedded PostgreSQL needs one: add it, or set DATABASE_URL if the service runs on this machine.',
  );
}

/** Of statfs, for cgroup v2. */
const cgroup2Type = 0x63_67_72_70;

/** The folder below which runs get control groups; nothing where none is set. */
export async function checkCgroup({ ENVARIUM_RUN_CGROUP: folder }: CommandEnvironment): Promise<Finding[]> {
  if (!folder) return [];
  const check = 'control groups';
  const advice = 'An agent does not start with it: see "Control groups" in docs/operate/running.md.';
  const type = await statfs(folder).then(
    (found) => found.type,
    () => null,
  );
  if (type === null) return [problem(check, `${folder} does not exist`, advice)];
  if (type !== cgroup2Type) return [problem(check, `${folder} is not a cgroup v2 folder`, advice)];
  try {
    await access(folder, constants.W_OK);
  } catch {
    return [problem(check, `${folder} does not belong to this user`, advice)];
  }
  const controllers = (await text(join(folder, 'cgroup.controllers')))?.trim().split(/\s+/) ?? [];
  const limiting = controllers.filter((name) => ['pids', 'memory'].includes(name));
  if (limiting.length > 0) return [ok(check, `${folder}, with limits: ${limiting.join(', ')}`)];
  return [
    warning(
      check,
      `${folder} has no controllers, so that groups have no limits`,
      'Delegate "pids" and "memory": see "Control groups" in docs/operate/running.md.',
    ),
  ];
}

export async function checkIsolation(environment: CommandEnvironment): Promise<Finding[]> {
  const uid = process.getuid?.() ?? -1;
  const passwd = (await text('/etc/passwd')) ?? '';
  const own = checkOwnEntry(passwd, uid);
  const confining =
    uid === 0
      ? [checkUids(passwd, environment), await checkBubblewrap(true, environment)]
      : [await checkNamespaces(), await checkBubblewrap(false, environment)];
  return [own, ...confining, ...(await checkCgroup(environment))];
}

/**
 * The configuration of Ansible for a run: that of the code, completed. It is next to that of the code, because
 * relative paths in it begin in its folder, and it replaces those of the machine and of its users.
 */
import { posix } from 'node:path';
import type { DriverContext, FileToWrite, TreeReader } from '../driver.ts';
import { inventoryOf, variablesOf } from './code.ts';

/** The folder of our files and of what a run installs, in the configuration's folder. */
export const ownFolder = '.envarium';
const fileName = 'envarium.ansible.cfg';
const codeFileName = 'ansible.cfg';

/** Settings of the section `defaults` that a run completes, in our spelling. */
type Key = 'inventory' | 'callback_plugins' | 'roles_path' | 'collections_path';
const keys: Readonly<Record<string, Key>> = {
  inventory: 'inventory',
  callback_plugins: 'callback_plugins',
  roles_path: 'roles_path',
  collections_path: 'collections_path',
  collections_paths: 'collections_path',
};

/** Folders below ours that come first. */
const own: Readonly<Record<Exclude<Key, 'inventory'>, string>> = {
  callback_plugins: 'callback',
  roles_path: 'roles',
  collections_path: 'collections',
};

/** Variables that replace settings, with the names of both spellings. */
const variables: Readonly<Record<string, Exclude<Key, 'inventory'>>> = {
  ANSIBLE_CALLBACK_PLUGINS: 'callback_plugins',
  ANSIBLE_ROLES_PATH: 'roles_path',
  ANSIBLE_COLLECTIONS_PATH: 'collections_path',
  ANSIBLE_COLLECTIONS_PATHS: 'collections_path',
};

/** The path of the code's configuration, relative to the configuration's folder. */
function codePath({ job }: Pick<DriverContext, 'job'>): string {
  return posix.normalize(variablesOf(job).configuration ?? codeFileName);
}

/** The path of the run's configuration, relative to the configuration's folder. */
export function configurationName(context: Pick<DriverContext, 'job'>): string {
  return posix.join(posix.dirname(codePath(context)), fileName);
}

interface Split {
  /** The text without the settings that a run completes. */
  readonly rest: readonly string[];
  readonly found: ReadonlyMap<Key, string>;
  /** After which line of the rest the section `defaults` begins; -1: it has none. */
  readonly defaults: number;
}

/** Name and value of a line; empty if it has no setting. */
function settingIn(line: string): readonly [name: string, value: string] {
  const at = line.search(/[=:]/);
  return at === -1 || !/^[^\s=:#;]/.test(line)
    ? ['', '']
    : [line.slice(0, at).trimEnd(), line.slice(at + 1).trimStart()];
}

/** As Python's configparser reads them: lines that are indented belong to the setting above. */
function split(text: string): Split {
  const rest: string[] = [];
  const found = new Map<Key, string>();
  let section = '';
  let taken: Key | null = null;
  let defaults = -1;
  for (const line of text.split(/\r?\n/)) {
    if (taken !== null && /^\s+\S/.test(line)) {
      found.set(taken, `${found.get(taken) ?? ''}${line.trim()}`);
      continue;
    }
    taken = null;
    section = /^\[([^\]]*)\]/.exec(line)?.[1] ?? section;
    const [name, value] = settingIn(line);
    const key = keys[name.toLowerCase()];
    if (section === 'defaults' && Object.hasOwn(keys, name.toLowerCase()) && key !== undefined) {
      taken = key;
      found.set(key, value.replace(/\s;[^]*$/, '').trim());
    } else {
      rest.push(line);
      if (line.startsWith('[defaults]')) defaults = rest.length - 1;
    }
  }
  return { rest, found, defaults };
}

async function inventoryLine(tree: TreeReader, found: string | undefined, up: string): Promise<string> {
  if (found?.split(',').some((path) => path.trim() === '') && found !== '')
    throw new Error(
      'inventory in the configuration of Ansible: an empty path would be the whole folder; remove the comma, and list hosts in a file or in ANSIBLE_CLI_inventory',
    );
  if (found) return found;
  // Without one, Ansible would take the machine's: this one has no hosts but the implicit localhost.
  return posix.join(up, (await inventoryOf(tree)) ?? posix.join(ownFolder, 'no-hosts'));
}

/**
 * The run's configuration.
 * @param playbook relative to the configuration's folder; null: there is none
 * @throws an Error that names the variable of a file that does not exist
 */
export async function configurationFiles(
  context: Pick<DriverContext, 'job' | 'tree'>,
  playbook: string | null,
): Promise<FileToWrite[]> {
  const { tree, job } = context;
  const path = codePath(context);
  const text = await tree.text(path);
  if (text === null && variablesOf(job).configuration !== undefined)
    throw new Error(
      'ANSIBLE_CONFIG: the repository has no such file; correct the path, which begins in the folder of the configuration',
    );
  const { rest, found, defaults } = split(text ?? '');
  const up = posix.relative(posix.dirname(path), '.');
  const paths = (key: Exclude<Key, 'inventory'>, ...more: readonly string[]) => {
    const folders = [posix.join(up, ownFolder, own[key]), ...more, found.get(key) ?? ''];
    return `${key} = ${folders.filter((folder) => folder !== '').join(':')}`;
  };
  // Those next to the playbook, which Ansible finds only where it is started with that playbook.
  const adjacent = posix.join(up, posix.dirname(playbook ?? '.'), 'collections');
  const lines = [
    `inventory = ${await inventoryLine(tree, found.get('inventory'), up)}`,
    paths('callback_plugins'),
    paths('roles_path'),
    paths('collections_path', adjacent),
  ];
  const complete =
    defaults === -1
      ? [...rest, '[defaults]', ...lines]
      : [...rest.slice(0, defaults + 1), ...lines, ...rest.slice(defaults + 1)];
  return [
    { name: configurationName(context), content: `${complete.join('\n')}\n`, isSecret: false },
    { name: posix.join(ownFolder, 'no-hosts'), content: '', isSecret: false },
  ];
}

/**
 * Variables of the run that replace settings of its configuration, completed in the same way.
 * @param folder the configuration's folder, absolute
 */
export function completedPaths(
  environment: Readonly<Record<string, string>>,
  folder: string,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(variables).flatMap(([name, key]) =>
      environment[name] ? [[name, `${posix.join(folder, ownFolder, own[key])}:${environment[name]}`]] : [],
    ),
  );
}

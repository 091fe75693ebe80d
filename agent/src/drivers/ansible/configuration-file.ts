/**
 * The configuration of Ansible for a run: that of the code, completed. It is next to that of the code, because
 * relative paths in it begin in its folder, and it replaces those of the machine and of its users.
 */
import { posix } from 'node:path';
import {
  type AddedOption,
  type AnsibleVariables,
  addedOptions,
  readAnsibleVariables,
} from '#protocol/tools/ansible-variables.ts';
import type { TreeReader } from '../interface/capabilities.ts';
import type { DriverContext, FileToWrite } from '../interface/driver.ts';
import { ownFolder } from '../interface/own-folder.ts';
import { inventoryOf, variablesOf } from './code.ts';

const fileName = 'envarium.ansible.cfg';
const codeFileName = 'ansible.cfg';

/** Settings of the section `defaults` that a run completes, in our spelling. */
type DefaultSetting = 'inventory' | 'callback_plugins' | 'roles_path' | 'collections_path';
const keys: Readonly<Record<string, DefaultSetting>> = {
  inventory: 'inventory',
  callback_plugins: 'callback_plugins',
  roles_path: 'roles_path',
  collections_path: 'collections_path',
  collections_paths: 'collections_path',
};

/** Folders below ours that come first. */
const own: Readonly<Record<Exclude<DefaultSetting, 'inventory'>, string>> = {
  callback_plugins: 'callback',
  roles_path: 'roles',
  collections_path: 'collections',
};

/** Variables that replace settings, with the names of both spellings. */
const variables: Readonly<Record<string, Exclude<DefaultSetting, 'inventory'>>> = {
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

interface Addition {
  readonly section: string;
  readonly key: string;
  readonly variable: string;
  /** Between the value of the option and that of the setting, which comes first for lists of tags. */
  readonly separator: ':' | ',';
  /** Default of Ansible. */
  readonly usual: string;
}

/** Settings to which options of the command line are added. */
const additions: Readonly<Record<AddedOption, Addition>> = {
  module_path: {
    section: 'defaults',
    key: 'library',
    variable: 'ANSIBLE_LIBRARY',
    separator: ':',
    usual: '~/.ansible/plugins/modules:/usr/share/ansible/plugins/modules',
  },
  skip_tags: { section: 'tags', key: 'skip', variable: 'ANSIBLE_SKIP_TAGS', separator: ',', usual: '' },
  tags: { section: 'tags', key: 'run', variable: 'ANSIBLE_RUN_TAGS', separator: ',', usual: '' },
  vault_id: {
    section: 'defaults',
    key: 'vault_identity_list',
    variable: 'ANSIBLE_VAULT_IDENTITY_LIST',
    separator: ',',
    usual: '',
  },
};

/** An option with the value that its setting has: paths of modules come first, others last. */
function together({ separator }: Addition, option: string, setting: string): string {
  const parts = separator === ':' ? [option, setting] : [setting, option];
  return parts.filter((part) => part !== '').join(separator);
}

interface Split {
  /** The text without the settings that a run completes. */
  readonly rest: readonly string[];
  readonly found: ReadonlyMap<DefaultSetting, string>;
  /** By section and name; only those that options are added to. */
  readonly added: ReadonlyMap<AddedOption, string>;
}

/** Name and value of a line; empty if it has no setting. */
function settingIn(line: string): readonly [name: string, value: string] {
  const at = line.search(/[=:]/);
  return at === -1 || !/^[^\s=:#;]/.test(line)
    ? ['', '']
    : [line.slice(0, at).trimEnd(), line.slice(at + 1).trimStart()];
}

/** As Python's configparser reads them: lines that are indented belong to the setting above. */
function split(text: string, options: readonly AddedOption[]): Split {
  const rest: string[] = [];
  const found = new Map<DefaultSetting, string>();
  const added = new Map<AddedOption, string>();
  let section = '';
  let append: ((more: string) => void) | null = null;
  for (const line of text.split(/\r?\n/)) {
    if (append !== null && /^\s+\S/.test(line)) {
      append(line.trim());
      continue;
    }
    append = null;
    section = /^\[([^\]]*)\]/.exec(line)?.[1] ?? section;
    const [name, value] = settingIn(line);
    const written = value.replace(/\s;[^]*$/, '').trim();
    const key = Object.hasOwn(keys, name.toLowerCase()) ? keys[name.toLowerCase()] : undefined;
    const option = options.find(
      (each) => additions[each].section === section && additions[each].key === name.toLowerCase(),
    );
    if (section === 'defaults' && key !== undefined) append = collector(found, key, written);
    else if (option !== undefined) append = collector(added, option, written);
    else rest.push(line);
  }
  return { rest, found, added };
}

/** Stores a value, to which the lines below may add. */
function collector<Name>(into: Map<Name, string>, name: Name, value: string): (more: string) => void {
  into.set(name, value);
  return (more) => into.set(name, `${into.get(name) ?? ''}${more}`);
}

/** The text of a configuration with more lines at the beginning of a section. */
function withLines(text: readonly string[], section: string, lines: readonly string[]): string[] {
  if (lines.length === 0) return [...text];
  const at = text.findLastIndex((line) => line.startsWith(`[${section}]`));
  return at === -1
    ? [...text, `[${section}]`, ...lines]
    : [...text.slice(0, at + 1), ...lines, ...text.slice(at + 1)];
}

/** The lines of a section that options of the run complete. @param up from the configuration to the run's folder */
function addedLines(
  values: AnsibleVariables['additions'],
  section: string,
  added: Split['added'],
  up: string,
): string[] {
  return addedOptions.flatMap((option) => {
    const value = values[option];
    const addition = additions[option];
    if (value === undefined || addition.section !== section) return [];
    const own = option === 'module_path' ? pathsFrom(up, value) : value;
    const all = together(addition, own.replaceAll('%', '%%'), added.get(option) ?? addition.usual);
    return [`${addition.key} = ${all}`];
  });
}

/** Paths of an option, which begin in the configuration's folder, as paths from another folder. */
function pathsFrom(up: string, value: string): string {
  return value
    .split(':')
    .map((path) => (/^[/~$]/.test(path) ? path : posix.join(up, path)))
    .join(':');
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
  const values = variablesOf(job).additions;
  const { rest, found, added } = split(
    text ?? '',
    addedOptions.filter((option) => values[option] !== undefined),
  );
  const up = posix.relative(posix.dirname(path), '.');
  const paths = (key: Exclude<DefaultSetting, 'inventory'>, ...more: readonly string[]) => {
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
    ...addedLines(values, 'defaults', added, up),
  ];
  const complete = withLines(
    withLines(rest, 'defaults', lines),
    'tags',
    addedLines(values, 'tags', added, up),
  );
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
  const values = readAnsibleVariables(environment).additions;
  const added = Object.entries(additions).flatMap(([option, addition]): [string, string][] => {
    const [value, setting] = [values[option as AddedOption], environment[addition.variable]];
    return value && setting ? [[addition.variable, together(addition, value, setting)]] : [];
  });
  const completed = Object.fromEntries(
    Object.entries(variables).flatMap(([name, key]) =>
      environment[name] ? [[name, `${posix.join(folder, ownFolder, own[key])}:${environment[name]}`]] : [],
    ),
  );
  return { ...completed, ...Object.fromEntries(added) };
}

/**
 * Environment variables that change what a run of Ansible does. Options of `ansible-playbook` become variables that
 * Ansible reads, files, or arguments without a value: arguments are visible to other users of a machine.
 */
import { pathProblem } from './inputs/run-variables.ts';

/** Names of the run variables of Ansible. */
export const ansibleVariableNames = {
  playbook: 'ENVARIUM_ANSIBLE_PLAYBOOK',
  destroyPlaybook: 'ENVARIUM_ANSIBLE_DESTROY_PLAYBOOK',
  skipsCheck: 'ENVARIUM_SKIP_ANSIBLE_CHECK',
  privateKey: 'ENVARIUM_ANSIBLE_PRIVATE_KEY',
  knownHosts: 'ENVARIUM_ANSIBLE_KNOWN_HOSTS',
  vaultPassword: 'ENVARIUM_ANSIBLE_VAULT_PASSWORD',
  configuration: 'ANSIBLE_CONFIG',
  inventory: 'ANSIBLE_INVENTORY',
} as const;

/** Prefixes of variables that become extra variables, and options. */
const extraPrefix = 'ANSIBLE_VAR_';
const optionPrefix = 'ANSIBLE_CLI_';

/** Options, as `ANSIBLE_CLI_<option>` names them, and the variables that Ansible reads instead. */
const optionVariables: Readonly<Record<string, string>> = {
  become: 'ANSIBLE_BECOME',
  become_method: 'ANSIBLE_BECOME_METHOD',
  become_password_file: 'ANSIBLE_BECOME_PASSWORD_FILE',
  become_user: 'ANSIBLE_BECOME_USER',
  connection: 'ANSIBLE_TRANSPORT',
  connection_password_file: 'ANSIBLE_CONNECTION_PASSWORD_FILE',
  force_handlers: 'ANSIBLE_FORCE_HANDLERS',
  forks: 'ANSIBLE_FORKS',
  inventory: 'ANSIBLE_INVENTORY',
  module_path: 'ANSIBLE_LIBRARY',
  private_key: 'ANSIBLE_PRIVATE_KEY_FILE',
  scp_extra_args: 'ANSIBLE_SCP_EXTRA_ARGS',
  sftp_extra_args: 'ANSIBLE_SFTP_EXTRA_ARGS',
  skip_tags: 'ANSIBLE_SKIP_TAGS',
  ssh_common_args: 'ANSIBLE_SSH_COMMON_ARGS',
  ssh_extra_args: 'ANSIBLE_SSH_EXTRA_ARGS',
  tags: 'ANSIBLE_RUN_TAGS',
  timeout: 'ANSIBLE_TIMEOUT',
  user: 'ANSIBLE_REMOTE_USER',
  vault_id: 'ANSIBLE_VAULT_IDENTITY_LIST',
  vault_password_file: 'ANSIBLE_VAULT_PASSWORD_FILE',
  verbosity: 'ANSIBLE_VERBOSITY',
};

/** Options whose values Ansible adds to those of its settings, where their variables replace these. */
export const addedOptions = ['module_path', 'skip_tags', 'tags', 'vault_id'] as const;
export type AddedOption = (typeof addedOptions)[number];

/** Options that the run handles itself. */
const ownOptions = ['limit', 'flush_cache'] as const;

/** Options that have no value on the command line. */
const switches: readonly string[] = ['become', 'flush_cache', 'force_handlers'];

const reasons: Readonly<Record<string, string>> = {
  check: 'the phase of the deployment determines it',
  diff: 'the phase of the deployment determines it',
  syntax_check: 'the phase of the deployment determines it',
  list_hosts: 'the run would change nothing',
  list_tags: 'the run would change nothing',
  list_tasks: 'the run would change nothing',
  step: 'no one can answer',
  ask_become_pass: 'no one can answer; use ANSIBLE_CLI_become_password_file',
  ask_pass: 'no one can answer; use ANSIBLE_CLI_connection_password_file',
  ask_vault_pass: 'no one can answer; use ANSIBLE_CLI_vault_password_file',
  extra_vars: 'each extra variable is a variable of its own, named ANSIBLE_VAR_ and its name',
  start_at_task: 'it could not be kept out of the arguments; use ANSIBLE_CLI_tags',
};

/** The variables of a run, as its tools see them, in the form that the driver needs. */
export interface AnsibleVariables {
  /** Paths from the configuration's folder; undefined: not specified. */
  readonly playbook: string | undefined;
  readonly destroyPlaybook: string | undefined;
  readonly configuration: string | undefined;
  readonly skipsCheck: boolean;
  /** Contents of files; undefined: not specified. */
  readonly privateKey: string | undefined;
  readonly knownHosts: string | undefined;
  readonly vaultPassword: string | undefined;
  /** Patterns of hosts; undefined: all. */
  readonly limit: string | undefined;
  readonly flushesCache: boolean;
  /** Hosts that the option `inventory` lists; undefined: it names a file or folder, or is not set. */
  readonly hosts: readonly string[] | undefined;
  /** Values of options that are added to settings. */
  readonly additions: Readonly<Partial<Record<AddedOption, string>>>;
  /** Variables that Ansible reads, made of other options. */
  readonly environment: Readonly<Record<string, string>>;
}

function optionOf(name: string): string {
  return name.slice(optionPrefix.length).toLowerCase().replaceAll('-', '_');
}

function isAdded(option: string): boolean {
  return addedOptions.some((each) => each === option);
}

/** The name of the extra variable that an environment variable sets; null: it sets none. */
export function extraNameOf(name: string): string | null {
  return name.startsWith(extraPrefix) ? name.slice(extraPrefix.length) : null;
}

/**
 * @param environment of the run, as its tools see it
 */
export function readAnsibleVariables(environment: Readonly<Record<string, string>>): AnsibleVariables {
  const options = new Map(
    Object.entries(environment)
      .filter(([name]) => name.startsWith(optionPrefix))
      .map(([name, value]): [string, string] => [optionOf(name), value])
      // Empty variables are left out, because an empty path would be the whole folder.
      .filter(([, value]) => value !== ''),
  );
  const hosts = hostsIn(options.get('inventory') ?? '');
  const text = (name: string) => environment[name] || undefined;
  return {
    playbook: text(ansibleVariableNames.playbook),
    destroyPlaybook: text(ansibleVariableNames.destroyPlaybook),
    configuration: text(ansibleVariableNames.configuration),
    privateKey: text(ansibleVariableNames.privateKey),
    knownHosts: text(ansibleVariableNames.knownHosts),
    vaultPassword: text(ansibleVariableNames.vaultPassword),
    skipsCheck: environment[ansibleVariableNames.skipsCheck] === 'true',
    limit: options.get('limit'),
    flushesCache: /^(true|yes|on|1)$/i.test(options.get('flush_cache') ?? ''),
    hosts,
    additions: Object.fromEntries(
      [...options].filter(([option]) => isAdded(option)),
    ) as AnsibleVariables['additions'],
    environment: Object.fromEntries(
      [...options].flatMap(([option, value]) => {
        const variable = Object.hasOwn(optionVariables, option) ? optionVariables[option] : undefined;
        const isElsewhere = isAdded(option) || (option === 'inventory' && hosts !== undefined);
        return variable === undefined || isElsewhere ? [] : [[variable, value]];
      }),
    ),
  };
}

/** As for `--inventory`, a comma makes a value a list of hosts; undefined: it is a path. */
function hostsIn(value: string): string[] | undefined {
  if (!value.includes(',')) return undefined;
  return value
    .split(',')
    .map((host) => host.trim())
    .filter((host) => host !== '');
}

function hostProblem(host: string): string | null {
  const isAddress = /^\[[0-9a-f:.]+\](:\d+)?$/i.test(host);
  return isAddress || !/[\s[\]]/.test(host)
    ? null
    : 'a list of hosts has names or addresses only: for ranges and variables of hosts, use a file of the repository';
}

function inventoryProblem(value: string): string | null {
  return value.split(',').some((path) => path.trim() === '')
    ? `an empty path would be the whole folder of the configuration: remove the comma; for a list of hosts, use ${optionPrefix}inventory`
    : null;
}

function valueProblem(option: string, value: string): string | null {
  if (option === 'limit' && /(^|,)\s*@/.test(value))
    return 'a limit in a file is not read: list the patterns of the hosts';
  if (option === 'inventory') {
    const hosts = hostsIn(value);
    if (hosts?.length === 0) return 'the list has no host';
    return hosts?.map(hostProblem).find((problem) => problem !== null) ?? null;
  }
  if (isAdded(option) && /\p{Cc}/u.test(value))
    return 'it must not contain line breaks or control characters';
  if (option === 'module_path' && value !== '' && value.split(':').includes(''))
    return 'an empty path would be the whole folder of the configuration: remove the colon';
  const isSwitch = switches.includes(option) && !value.includes('${');
  return isSwitch && !/^(true|false|yes|no|on|off|1|0|)$/i.test(value) ? 'it must be true or false' : null;
}

function optionProblem(name: string, value: string): string | null {
  const option = optionOf(name);
  const problem = valueProblem(option, value);
  if (problem !== null) return problem;
  if (Object.hasOwn(optionVariables, option) || ownOptions.some((own) => own === option)) return null;
  const why = Object.hasOwn(reasons, option) ? reasons[option] : undefined;
  const known = [...Object.keys(optionVariables), ...ownOptions].sort().join(', ');
  return why === undefined
    ? `a run cannot have this option; it can have ${known}`
    : `it cannot be set: ${why}`;
}

function fileProblem(value: string, folder?: string): string | null {
  if (value.startsWith('-') || /\{[{%#]|\p{Cc}/u.test(value))
    return 'a path must not begin with - or contain {{, {%, {# or control characters';
  if (value.split('/').includes('..'))
    return 'a path must not contain ..: it begins in the folder of the configuration, and stays in it';
  return pathProblem(value, folder);
}

function problemOf(name: string, value: string, folder?: string): string | null {
  const { playbook, destroyPlaybook, configuration, inventory, skipsCheck } = ansibleVariableNames;
  if (name === playbook || name === destroyPlaybook) return value === '' ? null : fileProblem(value, folder);
  // Other tools may start Ansible, with any configuration.
  if (name === configuration && folder !== undefined) return value === '' ? null : fileProblem(value, folder);
  if (name === inventory && folder !== undefined) return inventoryProblem(value);
  if (name === skipsCheck)
    return /^(true|false|)$/.test(value) || value.includes('${') ? null : 'it must be true or false';
  if (name.startsWith(optionPrefix)) return optionProblem(name, value);
  const extra = extraNameOf(name);
  return extra === null ? null : extraNameProblem(extra);
}

/** Says why a variable of a playbook cannot have a name, or null if it can. */
export function extraNameProblem(name: string): string | null {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name)
    ? null
    : `${JSON.stringify(name)} cannot be the name of a variable in Ansible: letters, digits and _, not beginning with a digit`;
}

/**
 * Says why an environment variable cannot be used, or null if it can.
 * @param folder the configuration's folder below the root of its repository, where it is known
 * @returns a text that begins with the variable's name, and repeats no value
 */
export function ansibleVariableProblem(name: string, value: string, folder?: string): string | null {
  const problem = problemOf(name, value, folder);
  return problem === null ? null : `${name}: ${problem}`;
}

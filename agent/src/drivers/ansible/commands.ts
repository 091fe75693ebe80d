/** The commands of Ansible, phase by phase. */
import { join, relative } from 'node:path';
import { runEnvironment } from '#protocol/run-environment.ts';
import { ansible as facts } from '#protocol/tools/ansible.ts';
import type { Command, Note } from '../interface/command.ts';
import type { DriverContext } from '../interface/driver.ts';
import { ownFolder } from '../interface/own-folder.ts';
import { eventsVariable } from './callback.ts';
import { type Requirements, requirementsOf, variablesOf } from './code.ts';
import { completedPaths, configurationName } from './configuration-file.ts';
import { ownFiles, ownPlaybook } from './files.ts';

const { steps } = facts;
const program = facts.program.name;
const galaxy = 'ansible-galaxy';

/** Name under which the runner returns what a playbook has done. */
export const capturedEvents = 'events.jsonl';

/** Variables that name the files of those variables that are contents of files. */
function fileVariables(
  { job, configurationFolder }: DriverContext,
  environment: Readonly<Record<string, string>>,
): Record<string, string> {
  const { privateKey, knownHosts, vaultPassword, hosts: listed } = variablesOf(job);
  const path = (name: string) => join(configurationFolder, name);
  const common = environment['ANSIBLE_SSH_COMMON_ARGS'];
  const hosts = `-o 'UserKnownHostsFile="${path(ownFiles.knownHosts)}"'`;
  return {
    ...(listed === undefined ? {} : { ANSIBLE_INVENTORY: path(ownFiles.hosts) }),
    ...(privateKey === undefined ? {} : { ANSIBLE_PRIVATE_KEY_FILE: path(ownFiles.privateKey) }),
    ...(knownHosts === undefined
      ? {}
      : { ANSIBLE_SSH_COMMON_ARGS: common === undefined ? hosts : `${common} ${hosts}` }),
    ...(vaultPassword === undefined ? {} : { ANSIBLE_VAULT_PASSWORD_FILE: path(ownFiles.vaultPassword) }),
  };
}

/** The environment of all commands. */
export function environmentOf(context: DriverContext): Record<string, string> {
  const { job, configurationFolder, temporaryFolder } = context;
  const environment = runEnvironment(job);
  const options = variablesOf(job).environment;
  const isPlain = environment['ANSIBLE_NOCOLOR'] !== undefined || environment['NO_COLOR'] !== undefined;
  // A socket's path is short: a relative one is, wherever the run's folders are.
  const sockets = join(relative(configurationFolder, temporaryFolder), '%%C');
  return {
    ANSIBLE_NOCOWS: '1',
    ANSIBLE_RETRY_FILES_ENABLED: 'false',
    // Otherwise an inventory that cannot be read has no hosts, and nothing would be what is to be changed.
    ANSIBLE_INVENTORY_UNPARSED_FAILED: 'true',
    ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED:
      environment['ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED'] ?? 'true',
    ...(isPlain ? {} : { ANSIBLE_FORCE_COLOR: environment['ANSIBLE_FORCE_COLOR'] ?? '1' }),
    ANSIBLE_SSH_CONTROL_PATH: environment['ANSIBLE_SSH_CONTROL_PATH'] ?? sockets,
    ...options,
    ...fileVariables(context, { ...environment, ...options }),
    ...completedPaths(environment, configurationFolder),
    ANSIBLE_CONFIG: join(configurationFolder, configurationName({ job })),
  };
}

function installCommand({ file, kind }: Requirements): Command {
  const words = kind === '' ? [] : [kind];
  return {
    step: steps.prepare[0] ?? '',
    program: galaxy,
    label: [galaxy, ...words, 'install', '-r', file].join(' '),
    args: [...words, 'install', '-r', file],
    loadsModules: true,
  };
}

/**
 * Installs what the code requires. An apply has it from the plan, in the tree: what is approved is what runs.
 */
export async function prepareCommands({ job, tree }: DriverContext): Promise<(Command | Note)[]> {
  const [step = ''] = steps.prepare;
  if (job.phase === 'apply') return [{ step, note: 'Roles and collections are those of the plan.' }];
  const requirements = await requirementsOf(tree);
  if (requirements.length === 0) return [{ step, note: 'There is no requirements.yml.' }];
  return requirements.map(installCommand);
}

/** The file to which the playbook of a step reports. */
function eventFileOf({ temporaryFolder }: DriverContext, step: string): string {
  return join(temporaryFolder, `${step.replaceAll(':', '-')}.events.jsonl`);
}

function playbookCommand(
  context: DriverContext,
  what: { readonly step: string; readonly label: string; readonly flags: readonly string[] },
): Command {
  const { job } = context;
  const { limit, flushesCache } = variablesOf(job);
  const file = eventFileOf(context, what.step);
  return {
    step: what.step,
    program,
    label: what.label,
    args: [
      ...what.flags,
      ...(flushesCache ? ['--flush-cache'] : []),
      ...(limit === undefined ? [] : ['--limit', `@${ownFiles.limit}`]),
      '--extra-vars',
      `@${ownFiles.extraVariables}`,
      ownPlaybook(job),
    ],
    environment: { [eventsVariable]: file },
    collects: { file, as: capturedEvents },
  };
}

/** Check mode; or, where that is skipped, only a look at the syntax. */
export function planCommands(context: DriverContext): Command[] {
  const flags = variablesOf(context.job).skipsCheck ? ['--syntax-check'] : ['--check', '--diff'];
  const words = [program, ...flags, ...(context.job.type === 'destroy' ? ['(destroy)'] : [])];
  return [playbookCommand(context, { step: steps.plan, label: words.join(' '), flags })];
}

export function applyCommands(context: DriverContext): Command[] {
  const isDestroy = context.job.type === 'destroy';
  const step = isDestroy ? steps.destroy : steps.apply;
  const label = isDestroy ? `${program} (destroy)` : program;
  const command = playbookCommand(context, { step, label, flags: [] });
  return [{ ...command, isChanging: true, eventFile: eventFileOf(context, step) }];
}

/** The folder of what `prepareCommands` installs, relative to the configuration's folder. */
export const installedCollections = `${ownFolder}/collections/ansible_collections`;

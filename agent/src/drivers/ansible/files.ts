/** The files that a run of Ansible gets, in its configuration's folder. */
import { posix } from 'node:path';
import type { Job } from '#protocol/messages/job.ts';
import { runEnvironment } from '#protocol/run-environment.ts';
import { extraNameOf } from '#protocol/tools/ansible-variables.ts';
import type { DriverContext, FileToWrite } from '../interface/driver.ts';
import { ownFolder } from '../interface/own-folder.ts';
import { variableTexts } from '../terraform/variable-texts.ts';
import { callbackSource } from './callback.ts';
import { destroyPlaybookNames, playbookOf, variablesOf } from './code.ts';
import { configurationFiles } from './configuration-file.ts';

/** Paths of our files, relative to the configuration's folder. */
export const ownFiles = {
  playbook: `${ownFolder}/playbook.yml`,
  destroyPlaybook: `${ownFolder}/destroy.yml`,
  extraVariables: `${ownFolder}/extra-vars.json`,
  limit: `${ownFolder}/limit`,
  hosts: `${ownFolder}/hosts.yml`,
  privateKey: `${ownFolder}/private-key`,
  knownHosts: `${ownFolder}/known-hosts`,
  vaultPassword: `${ownFolder}/vault-password`,
  callback: `${ownFolder}/callback/envarium_events.py`,
} as const;

/** Our playbooks for a deployment. */
export function ownPlaybook({ type }: Pick<Job, 'type'>): string {
  return type === 'destroy' ? ownFiles.destroyPlaybook : ownFiles.playbook;
}

/** Why a destroy changes nothing. */
export const nothingToRun = `the repository has no ${destroyPlaybookNames.join(' or ')}: what was configured stays as it is`;

/** Starts the playbook of the code, so that no argument has a variable's value. */
function playbookText(playbook: string | null): string {
  if (playbook !== null) return `- import_playbook: ${JSON.stringify(posix.relative(ownFolder, playbook))}\n`;
  return `- name: ${JSON.stringify(`Nothing is destroyed: ${nothingToRun}`)}\n  hosts: localhost\n  gather_facts: false\n  tasks: []\n`;
}

/**
 * Splits patterns of hosts as Ansible does in an argument: in a file each has a line of its own.
 */
function limitLines(text: string): string[] {
  const words = text.split(',').map((word) => word.trim());
  if (words.length > 1) return words.filter((word) => word !== '');
  const [word = ''] = words;
  // An IPv6 address.
  if (/^[0-9a-f:.]+$/i.test(word) && word.split(':').length > 3) return [word];
  // Nothing closes brackets behind the last one, for which each of them would be searched.
  const end = word.lastIndexOf(']') + 1;
  const closed = word.slice(0, end) + word.slice(end).replaceAll('[', ' ');
  return closed.match(/(?:[^\s:[\]]|\[[^\]]*\])+/g) ?? [];
}

async function extraVariables(context: DriverContext): Promise<string> {
  const { job } = context;
  const environment = runEnvironment(job);
  const others = job.variables.environment.flatMap((variable) => {
    const name = extraNameOf(variable.name);
    return name === null ? [] : [{ ...variable, name, value: environment[variable.name] ?? '' }];
  });
  const texts = await variableTexts([...job.variables.terraform, ...others]);
  const lines = [...texts].map(([name, text]) => `  ${JSON.stringify(name)}: ${text}`);
  return lines.length === 0 ? '{}\n' : `{\n${lines.join(',\n')}\n}\n`;
}

/**
 * All files of a run.
 * @throws an Error that names what is missing, or the variable whose value does not match its format
 */
export async function filesOf(context: DriverContext): Promise<FileToWrite[]> {
  const { job } = context;
  const isTask = job.type === 'task';
  const playbook = isTask ? null : await playbookOf(context);
  const variables = variablesOf(job);
  const contents = {
    [ownFiles.extraVariables]: await extraVariables(context),
    [ownFiles.limit]: variables.limit && limitLines(variables.limit).join('\n'),
    [ownFiles.hosts]: variables.hosts && hostsText(variables.hosts),
    [ownFiles.privateKey]: variables.privateKey,
    [ownFiles.knownHosts]: variables.knownHosts,
    [ownFiles.vaultPassword]: variables.vaultPassword,
  };
  return [
    ...(await configurationFiles(context, playbook)),
    { name: ownFiles.callback, content: callbackSource, isSecret: false },
    ...(isTask ? [] : [{ name: ownPlaybook(job), content: playbookText(playbook), isSecret: false }]),
    ...Object.entries(contents).flatMap(([name, content]) =>
      content === undefined ? [] : [{ name, content: endedLine(content), isSecret: true }],
    ),
  ];
}

/** An inventory of the hosts that an option lists: a variable of Ansible would take them for paths. */
function hostsText(hosts: readonly string[]): string {
  const named = Object.fromEntries(hosts.map((host) => [host, null]));
  return JSON.stringify({ ungrouped: { hosts: named } });
}

/** ssh reads no key whose last line has no end. */
function endedLine(text: string): string {
  return text.endsWith('\n') ? text : `${text}\n`;
}

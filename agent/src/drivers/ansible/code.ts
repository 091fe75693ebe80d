/** Files for Ansible in a repository: playbooks, inventories and lists of requirements. */
import { posix } from 'node:path';
import type { Job } from '#protocol/messages/job.ts';
import { runEnvironment } from '#protocol/run-environment.ts';
import {
  type AnsibleVariables,
  ansibleVariableNames,
  readAnsibleVariables,
} from '#protocol/tools/ansible-variables.ts';
import type { TreeReader } from '../interface/capabilities.ts';
import type { DriverContext } from '../interface/driver.ts';

/** Names relative to the configuration's folder, in the order in which they count. */
const playbookNames = ['playbook.yml', 'playbook.yaml'] as const;
export const destroyPlaybookNames = ['destroy.yml', 'destroy.yaml'] as const;
const inventoryNames = ['inventory', 'inventory.yml', 'hosts', 'hosts.yml'] as const;

export function variablesOf(job: Pick<Job, 'variables' | 'systemVariables'>): AnsibleVariables {
  return readAnsibleVariables(runEnvironment(job));
}

type PlaybookContext = Pick<DriverContext, 'job' | 'tree'>;

/**
 * The playbook that a deployment runs, relative to the configuration's folder; null: a destroy that has none.
 * @throws an Error that names what is missing
 */
export async function playbookOf({ job, tree }: PlaybookContext): Promise<string | null> {
  const isDestroy = job.type === 'destroy';
  const { playbook, destroyPlaybook } = variablesOf(job);
  const wanted = isDestroy ? destroyPlaybook : playbook;
  if (wanted !== undefined) return existing(tree, wanted, isDestroy);
  const names = await tree.list('');
  const candidates: readonly string[] = isDestroy ? destroyPlaybookNames : playbookNames;
  const found = candidates.find((name) => names.includes(name)) ?? null;
  if (found !== null || isDestroy) return found;
  const folder = job.source.path ? `path ${JSON.stringify(job.source.path)}` : 'the root';
  throw new Error(
    `No playbook: ${folder} of ${job.source.repository} has neither ${playbookNames.join(' nor ')}; add one, set path to the folder that contains it, or name it in ${ansibleVariableNames.playbook}`,
  );
}

async function existing(tree: TreeReader, name: string, isDestroy: boolean): Promise<string> {
  if ((await tree.text(name)) !== null) return posix.normalize(name);
  const variable = isDestroy ? ansibleVariableNames.destroyPlaybook : ansibleVariableNames.playbook;
  throw new Error(
    `${variable}: the repository has no such file; correct the path, which begins in the folder of the configuration`,
  );
}

/** The inventory of a folder that names none in its configuration; null: there is none. */
export async function inventoryOf(tree: TreeReader): Promise<string | null> {
  const names = await tree.list('');
  return inventoryNames.find((name) => names.includes(name)) ?? null;
}

/** A list of requirements, and the words that select the command for it. */
export interface Requirements {
  readonly file: string;
  /** Empty: roles and collections. */
  readonly kind: '' | 'role' | 'collection';
}

const requirementPlaces = [
  { folder: '', kind: '' },
  { folder: 'roles', kind: 'role' },
  { folder: 'collections', kind: 'collection' },
] as const;

/** The lists of requirements of a folder, in the places where Ansible's own services look for them. */
export async function requirementsOf(tree: TreeReader): Promise<Requirements[]> {
  const root = await tree.list('');
  const found: Requirements[] = [];
  for (const { folder, kind } of requirementPlaces) {
    if (folder !== '' && !root.includes(folder)) continue;
    const names = folder === '' ? root : await tree.list(folder);
    const name = ['requirements.yml', 'requirements.yaml'].find((one) => names.includes(one));
    if (name !== undefined) found.push({ file: posix.join(folder, name), kind });
  }
  return found;
}

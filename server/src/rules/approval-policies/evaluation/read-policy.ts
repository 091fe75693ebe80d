/** Fetches the files of a policy, under the guards and limits of every repository that the service reads. */
import { posix } from 'node:path';
import { catalogueRepository } from '#contract/approval-policies/catalogue-repository.ts';
import { version } from '#protocol/version.ts';
import { type CommitTree, UnreadableFile } from '../../../code/repositories/git/commit-tree.ts';
import { UnreadableRepository } from '../../../code/repositories/git/fetch-commit.ts';
import { readRepository } from '../../../code/repositories/git/open-repository.ts';
import { UnusableGit } from '../../../code/repositories/git/run-git.ts';
import { sourceOf } from '../../../code/repositories/source-of.ts';
import type { Context } from '../../../framework/context.ts';
import { Refusal } from '../../../ground/errors.ts';
import type { ProjectPlace } from '../../../rows/projects/project-store.ts';
import { openCredentials, type TemplateRow } from '../../../rows/templates/template-store.ts';
import { findInCatalogue } from './catalogue.ts';
import type { PolicyFiles } from './compile-policy.ts';
import { PolicyError, PolicyUnavailable } from './policy-error.ts';

const mostFiles = 200;
const mostBytes = 5_000_000;
const deepest = 5;

export interface ReadPolicy {
  /** Of the catalogue: the version of the service. */
  readonly commit: string;
  readonly files: PolicyFiles;
}

/** Names of the policy's files below a folder, without tests of policies. */
async function namesBelow(tree: CommitTree, folder: string, depth = 0): Promise<string[]> {
  const names = (await tree.namesIn(folder)) ?? [];
  const found: string[] = [];
  for (const name of names) {
    const path = posix.join(folder, name);
    if (name.endsWith('.rego')) {
      if (!name.endsWith('_test.rego')) found.push(path);
    } else if (depth < deepest && !name.includes('.'))
      found.push(...(await namesBelow(tree, path, depth + 1)));
    if (found.length > mostFiles) throw new PolicyError(`The policy has more than ${mostFiles} files`);
  }
  return found;
}

async function filesIn(tree: CommitTree, folder: string): Promise<PolicyFiles> {
  const place = folder === '' ? 'the root of the repository' : `folder ${JSON.stringify(folder)}`;
  if (folder !== '' && (await tree.namesIn(folder)) === null)
    throw new PolicyError(`There is no ${place} at this commit`);
  const texts = await tree.read(await namesBelow(tree, folder));
  if (texts.size === 0) throw new PolicyError(`There are no .rego files in ${place}`);
  const bytes = [...texts.values()].reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  if (bytes > mostBytes) throw new PolicyError(`The policy has more than ${mostBytes} bytes`);
  return new Map([...texts].map(([path, text]) => [posix.relative(folder, path), text]));
}

/** The repository, with what it is read with. @throws UnreadableRepository */
function sourceOfPolicy(context: Context, template: TemplateRow, project: ProjectPlace) {
  const { repository, settings } = template;
  const place = { organizationId: template.organization_id, projectId: null };
  const own = openCredentials(context, template);
  return sourceOf(context, { repository, settings, own, place, keysOf: project });
}

/** @throws PolicyError for a folder that another version had */
function cataloguedPolicy(path: string): ReadPolicy {
  const policy = findInCatalogue(path);
  if (!policy)
    throw new PolicyError(`The catalogue of this version has no policy "${path}": choose another one`);
  return { commit: version, files: new Map(Object.entries(policy.files)) };
}

/**
 * Whether it says nothing about the policy: too many others are being read, the server stops, or a commit that was read
 * before cannot be read now.
 */
export function isTemporary(error: unknown): boolean {
  if (error instanceof UnusableGit) return false;
  return error instanceof PolicyUnavailable || (error instanceof Refusal && error.code === 'unavailable');
}

/**
 * @param project where the deployment is, which SSH keys must be for
 * @param commit the one to read, which was read before; absent: the newest of the policy's revision
 * @throws PolicyError in plain words, PolicyUnavailable or Refusal 503 where it can be read later
 */
export async function readPolicy(
  context: Context,
  template: TemplateRow,
  project: ProjectPlace,
  commit?: string,
): Promise<ReadPolicy> {
  const { revision, path = '' } = template.settings;
  if (template.repository === catalogueRepository) return cataloguedPolicy(path);
  try {
    const source = await sourceOfPolicy(context, template, project);
    return await readRepository(context, source, commit ?? (revision || undefined), async (tree) => ({
      commit: await tree.id(),
      files: await filesIn(tree, path.replace(/^\.?\/+|\/+$/g, '')),
    }));
  } catch (error) {
    if (error instanceof PolicyError || isTemporary(error)) throw error;
    // A readable policy is not wrong: its host, or the network, fails.
    if (error instanceof UnreadableRepository && commit !== undefined)
      throw new PolicyUnavailable(`The policy cannot be read: ${error.message}`, { cause: error });
    if (error instanceof UnreadableRepository || error instanceof UnreadableFile || error instanceof Refusal)
      throw new PolicyError(`The policy cannot be read: ${error.message}`, { cause: error });
    throw error;
  }
}

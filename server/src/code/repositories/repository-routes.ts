/** Operations that read a repository. */
import { posix } from 'node:path';
import { operations } from '#contract/operations.ts';
import { normalizePath } from '#guards/source-guards.ts';
import { usualType } from '#protocol/tools/declared-variables.ts';
import { type Route, route } from '../../framework/http/route.ts';
import { badField, Refusal } from '../../ground/errors.ts';
import { checkPath, checkRevision } from '../templates/check-source.ts';
import { type CommitTree, UnreadableFile } from './git/commit-tree.ts';
import { UnreadableRepository } from './git/fetch-commit.ts';
import { listRevisions, readRepository } from './git/open-repository.ts';
import { sourceFor } from './source-for.ts';
import { UnreadableCode } from './variables/row.ts';
import { variablesOf } from './variables/variables-of.ts';

const schemaFile = 'configurationSchema.json';

/**
 * Reads the JSON Schema of an approval policy's configuration from the policy's folder, without evaluating it.
 * @returns undefined where there is none
 * @throws UnreadableFile for a file that is not a JSON object
 */
async function readPolicySchema(
  tree: CommitTree,
  folder: string,
): Promise<Record<string, unknown> | undefined> {
  const path = posix.join(folder, schemaFile);
  const text = (await tree.read([path])).get(path);
  if (text === undefined) return undefined;
  let schema: unknown;
  try {
    schema = JSON.parse(text);
  } catch (error) {
    throw new UnreadableFile(`${path}: ${(error as Error).message}`, { cause: error });
  }
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema))
    throw new UnreadableFile(`${path} must contain a JSON object`);
  return schema as Record<string, unknown>;
}

/** Parameter that a failure is about, by the first word of its sentence. */
const parameters: Readonly<Record<string, string>> = {
  revision: 'revision',
  token: 'tokenId',
  sshKeys: 'sshKeyIds',
};

/** A failure to read as the refusal that the caller gets. */
function refusalOf(error: unknown): unknown {
  if (error instanceof UnreadableRepository) {
    const [word = ''] = /^\w+/.exec(error.message) ?? [];
    return badField(`query.${parameters[word] ?? 'repository'}`, `is refused: ${error.message}`);
  }
  if (error instanceof UnreadableCode || error instanceof UnreadableFile)
    return new Refusal('unprocessable', `The code of the repository cannot be read: ${error.message}`);
  return error;
}

async function refusing<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw refusalOf(error);
  }
}

/** Revision and path to read. */
interface RepositoryPath {
  readonly revision?: string;
  readonly path?: string;
  readonly fileName?: string;
}

/** @throws Refusal 400 that names the parameter */
function checkPlace({ revision, path, fileName }: RepositoryPath): void {
  checkRevision(revision, 'query.revision');
  checkPath(path, 'query.path');
  checkPath(fileName, 'query.fileName');
}

/** @throws Refusal 400 */
async function requireFolder(tree: CommitTree, path: string): Promise<void> {
  if (path === '' || (await tree.namesIn(path)) !== null) return;
  throw badField('query.path', `is refused: path ${JSON.stringify(path)} is not a folder of the repository`);
}

export const repositoryRoutes: Route[] = [
  route(operations.listVariablesFromRepository, async (context, { query }) => {
    checkPlace(query);
    const source = await sourceFor(context, query);
    const path = normalizePath(query.path ?? '');
    const { type = usualType, fileName } = query;
    return refusing(() =>
      readRepository(context, source, query.revision || undefined, async (tree, signal) => {
        await requireFolder(tree, path);
        return variablesOf(type, { tree, path, fileName, signal });
      }),
    );
  }),
  route(operations.getPolicySchema, async (context, { query }) => {
    checkPlace(query);
    const source = await sourceFor(context, query);
    const path = normalizePath(query.path ?? '');
    return refusing(() =>
      readRepository(context, source, query.revision || undefined, async (tree) => {
        await requireFolder(tree, path);
        const configurationSchema = await readPolicySchema(tree, path);
        return configurationSchema === undefined ? {} : { configurationSchema };
      }),
    );
  }),
  route(operations.listRepositoryRevisions, async (context, { query }) => {
    const source = await sourceFor(context, query);
    return refusing(() => listRevisions(context, source));
  }),
];

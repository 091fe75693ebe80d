/** Reads what the configuration of an approval policy can be. */
import { posix } from 'node:path';
import { type CommitTree, UnreadableFile } from './git/commit-tree.ts';

const file = 'configurationSchema.json';

/**
 * The JSON Schema in the folder of a policy; it is not evaluated.
 * @returns undefined where there is none
 * @throws UnreadableFile for a file that is not a JSON object
 */
export async function readPolicySchema(
  tree: CommitTree,
  folder: string,
): Promise<Record<string, unknown> | undefined> {
  const path = posix.join(folder, file);
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

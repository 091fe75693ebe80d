/**
 * Version requirements of terragrunt's configuration for terragrunt and the program that it runs: in the unit
 * itself, in the files that it includes, and, for a folder of units, in the nearest configuration above it.
 */
import { posix } from 'node:path';
import type { RequiredVersion } from '../../toolchain/choose-tool.ts';
import type { TreeReader } from '../interface/capabilities.ts';
import type { RequiredOf } from '../interface/driver.ts';
import { parseTerragruntFiles, UnreadableFile } from './read-file.ts';

const ownProgram = 'terragrunt';
const unitFile = 'terragrunt.hcl';
const unitFiles = [unitFile, `${unitFile}.json`];

/**
 * Reads the constraints for the program. As in terragrunt, a unit's own replaces those of what it includes; paths
 * that only terragrunt can evaluate are not read.
 * @throws an Error with a message for people if a file cannot be parsed
 */
export async function requiredVersions({ program, code, folder }: RequiredOf): Promise<RequiredVersion[]> {
  const attribute = program === ownProgram ? 'terragrunt_version_constraint' : 'terraform_version_constraint';
  for (const name of unitFiles) {
    const file = posix.join(folder, name);
    const body = await bodyOf(code, file);
    if (body === null) continue;
    const own = constraintIn(body, file, attribute);
    if (own !== null) return [own];
    const included: RequiredVersion[] = [];
    for (const path of await includedFiles(code, folder, body)) {
      const found = constraintIn((await bodyOf(code, path)) ?? {}, path, attribute);
      if (found !== null) included.push(found);
    }
    return included;
  }
  const common = (await nearest(code, folder, 'root.hcl')) ?? (await nearest(code, above(folder), unitFile));
  const found = common && constraintIn((await bodyOf(code, common)) ?? {}, common, attribute);
  return found ? [found] : [];
}

function constraintIn(
  body: Record<string, unknown>,
  file: string,
  attribute: string,
): RequiredVersion | null {
  const value = body[attribute];
  if (value === undefined) return null;
  const isConstant = typeof value === 'string' && !/[$%]\{/.test(value);
  return { file, constraint: isConstant ? value : null, attribute };
}

/** The files that a unit includes, if their paths are known without running terragrunt. */
async function includedFiles(
  code: TreeReader,
  folder: string,
  body: Record<string, unknown>,
): Promise<string[]> {
  const found = await Promise.all(
    pathsOfIncludes(body['include']).map(async (path) => {
      const search = /^\$\{find_in_parent_folders\((?:"([^"$%{}]+)")?\)\}$/.exec(path);
      if (search !== null) return nearest(code, above(folder), search[1] ?? unitFile);
      const fromRoot = /^\$\{get_repo_root\(\)\}\/(.*)$/.exec(path)?.[1];
      return within(fromRoot ?? posix.join(folder, path));
    }),
  );
  return found.filter((path) => path !== null);
}

/** Blocks with and without a label. */
function pathsOfIncludes(include: unknown): string[] {
  if (Array.isArray(include)) return include.flatMap(pathsOfIncludes);
  if (typeof include !== 'object' || include === null) return [];
  const { path, ...labelled } = include as Record<string, unknown>;
  return typeof path === 'string' ? [path] : Object.values(labelled).flatMap(pathsOfIncludes);
}

/** A path inside the repository that needs no evaluation; null for any other. */
function within(path: string): string | null {
  const isInside = !posix.isAbsolute(path) && !/^\.\.(\/|$)/.test(path) && !/[$%]\{/.test(path);
  return isInside ? path : null;
}

function above(folder: string): string | null {
  return folder === '' ? null : posix.dirname(folder).replace(/^\.$/, '');
}

/** The file of this name in the folder or the nearest one above it; null: there is none. */
async function nearest(code: TreeReader, folder: string | null, name: string): Promise<string | null> {
  if (name.includes('/') && within(posix.normalize(name)) === null) return null;
  for (let current = folder; current !== null; current = above(current)) {
    const file = posix.join(current, name);
    if ((await code.text(file)) !== null) return file;
  }
  return null;
}

async function bodyOf(code: TreeReader, file: string): Promise<Record<string, unknown> | null> {
  const text = await code.text(file);
  if (text === null) return null;
  // Only those files are parsed that may say something.
  if (!/_version_constraint|include/.test(text)) return {};
  const [body] = await parseTerragruntFiles([{ name: file, text }]);
  return body instanceof UnreadableFile ? constraintsInText(body.text) : (body ?? {});
}

/** The constraints in a file that our parser cannot read. */
function constraintsInText(text: string): Record<string, unknown> {
  const found = text.matchAll(/^[ \t]*(\w+_version_constraint)[ \t]*=[ \t]*"([^"\\\n]*)"[ \t]*$/gm);
  return Object.fromEntries([...found].map(([, name, constraint]) => [name, constraint]));
}

/** The constraints of terraform or OpenTofu code on the version of its tool. */
import type { RequiredVersion } from '../../toolchain/choose-tool.ts';
import type { TreeReader } from '../interface/capabilities.ts';
import { type FileRules, isOverride, terraformFiles } from './code/files.ts';
import { type ConfigurationFile, objectsIn, readConfiguration } from './code/read-configuration.ts';

/**
 * Reads every `required_version` of the root module; requirements in an override file replace all earlier
 * ones, as in the tools. Files without that word are not parsed.
 * @throws an Error with a message for people if a file cannot be parsed
 */
export async function requiredVersions(
  tree: TreeReader,
  rules: FileRules = terraformFiles,
): Promise<RequiredVersion[]> {
  let found: RequiredVersion[] = [];
  for (const file of await readConfiguration(tree, rules, (text) => text.includes('required_version'))) {
    const own = constraintsOf(file);
    if (own.length > 0) found = isOverride(file.name, rules) ? own : [...found, ...own];
  }
  return found;
}

function constraintsOf({ name, body }: ConfigurationFile): RequiredVersion[] {
  return objectsIn(objectsIn(body).flatMap((each) => each['terraform']))
    .filter((block) => 'required_version' in block)
    .map(({ required_version: value }) => ({ file: name, constraint: isConstant(value) ? value : null }));
}

function isConstant(value: unknown): value is string {
  return typeof value === 'string' && !/[$%]\{/.test(value);
}

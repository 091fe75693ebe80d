/** The constraints of terraform or OpenTofu code on the version of its tool. */
import type { RequiredVersion } from '../../toolchain/choose-tool.ts';
import type { TreeReader } from '../driver.ts';
import type { HclAnswer } from '#guards/hcl/answer-parent.ts';
import { parseHcl } from './hcl.ts';
import { configurationFiles, type FileRules, isOverride, terraformFiles } from './files.ts';

interface CodeFile {
  readonly name: string;
  readonly text: string;
}

/**
 * Reads every `required_version` of the root module; requirements in an override file replace all earlier
 * ones, as in the tools. Files without that word are not parsed.
 * @throws an Error with a message for people if a file cannot be parsed
 */
export async function requiredVersions(
  tree: TreeReader,
  rules: FileRules = terraformFiles,
): Promise<RequiredVersion[]> {
  const names = configurationFiles(await tree.list(''), rules);
  const files = await Promise.all(names.map(async (name) => ({ name, text: (await tree.text(name)) ?? '' })));
  const asking = files.filter(({ text }) => text.includes('required_version'));
  const hcl = asking.filter(({ name }) => !name.endsWith('.json'));
  const answers = await parseHcl(hcl);
  let found: RequiredVersion[] = [];
  for (const file of asking) {
    const own = constraintsOf(file, bodyOf(file, answers[hcl.indexOf(file)]));
    if (own.length > 0) found = isOverride(file.name, rules) ? own : [...found, ...own];
  }
  return found;
}

function bodyOf({ name, text }: CodeFile, answer: HclAnswer | undefined): unknown {
  if (answer?.error !== undefined) throw new Error(`The configuration does not parse: ${answer.error}`);
  if (answer) return answer.body;
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new Error(`${name} is not valid JSON: ${(cause as Error).message}`, { cause });
  }
}

function constraintsOf({ name }: CodeFile, body: unknown): RequiredVersion[] {
  return objectsIn(objectsIn(body).flatMap((each) => each['terraform']))
    .filter((block) => 'required_version' in block)
    .map(({ required_version: value }) => ({ file: name, constraint: isConstant(value) ? value : null }));
}

function isConstant(value: unknown): value is string {
  return typeof value === 'string' && !/[$%]\{/.test(value);
}

/** Blocks are arrays or, in JSON, possibly one object. */
function objectsIn(value: unknown): Record<string, unknown>[] {
  return (Array.isArray(value) ? value.flat() : [value]).filter(
    (each) => typeof each === 'object' && each !== null,
  );
}

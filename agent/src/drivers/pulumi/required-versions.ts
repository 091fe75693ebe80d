/** Version of Pulumi that the project requires. */
import { Range, satisfies } from 'semver';
import { parse } from 'yaml';
import type { RequiredVersion } from '../../toolchain/choose-tool.ts';
import type { TreeReader } from '../interface/capabilities.ts';

const attribute = 'requiredPulumiVersion';
const projectFiles = ['Pulumi.yaml', 'Pulumi.yml', 'Pulumi.json'];

/**
 * Reads `requiredPulumiVersion` of the project.
 * @throws an Error with a message for people if the project file cannot be parsed
 */
export async function requiredVersions(tree: TreeReader): Promise<RequiredVersion[]> {
  for (const file of projectFiles) {
    const text = await tree.text(file);
    if (text === null) continue;
    const required = text.includes(attribute) ? projectOf(file, text)[attribute] : undefined;
    if (required === undefined || required === '') return [];
    if (typeof required !== 'string')
      throw new Error(`${file}: ${attribute} must be a text such as ">=3.0.0"`);
    return [{ file, constraint: required, attribute, meets: (version) => isMet(version, required) }];
  }
  return [];
}

function projectOf(file: string, text: string): Record<string, unknown> {
  let project: unknown;
  try {
    project = parse(text, { maxAliasCount: 100 });
  } catch (cause) {
    throw new Error(`${file} does not parse: ${(cause as Error).message.split('\n')[0]}`, { cause });
  }
  return typeof project === 'object' && project !== null ? (project as Record<string, unknown>) : {};
}

/**
 * Whether a version meets a range in Pulumi's language: conditions next to each other all hold, `||` separates
 * alternatives, and `!` or `!=` excludes a version.
 * @throws Error that quotes an invalid part
 */
function isMet(version: string, required: string): boolean {
  const alternatives = required.split('||').map((part) =>
    part
      .trim()
      .replaceAll(/([<>=!])\s+/g, '$1')
      .split(/\s+/),
  );
  return alternatives
    .map((conditions) => conditions.every((condition) => meets(version, condition)))
    .includes(true);
}

function meets(version: string, condition: string): boolean {
  const excluded = /^!=?(.+)$/.exec(condition)?.[1];
  const range = rangeOf(excluded ?? condition.replace(/^==/, '='));
  if (range === null)
    throw new Error(
      `${JSON.stringify(condition)} is not a condition for a version: use one such as >=3.100.0, <4.0.0, 3.x or !=3.101.0`,
    );
  return satisfies(version, range) !== (excluded !== undefined);
}

/** Null: it means nothing to Pulumi, which wants three numbers, and knows neither ~ nor ^. */
function rangeOf(condition: string): Range | null {
  if (!/^(>=|<=|>|<|=)?(\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?|\d+(\.\d+)?\.x)$/.test(condition)) return null;
  try {
    return new Range(condition);
  } catch {
    return null;
  }
}

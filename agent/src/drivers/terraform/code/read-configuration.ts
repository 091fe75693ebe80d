/** The files of the root module as data. */
import type { HclAnswer, HclFile } from '#guards/hcl/hcl-answer.ts';
import type { TreeReader } from '../../interface/capabilities.ts';
import { configurationFiles, type FileRules, requireReadableNames } from './files.ts';
import { parseHcl } from './hcl.ts';
import { repeatedKey } from './repeated-key.ts';

export interface ConfigurationFile {
  readonly name: string;
  readonly body: unknown;
}

/**
 * Parses the files of the root module, in the order in which the tools merge them.
 * @param mayMatter false for a text that is not parsed
 * @throws an Error with a message for people if a file cannot be parsed
 */
export async function readConfiguration(
  tree: TreeReader,
  rules: FileRules,
  mayMatter: (text: string) => boolean,
): Promise<ConfigurationFile[]> {
  const names = configurationFiles(await tree.list(''), rules);
  requireReadableNames(names);
  const all = await Promise.all(names.map(async (name) => ({ name, text: (await tree.text(name)) ?? '' })));
  const files = all.filter(({ text }) => mayMatter(text));
  const hcl = files.filter(({ name }) => !name.endsWith('.json'));
  const answers = await parseHcl(hcl);
  return files.map((file) => {
    const answer = answers[hcl.indexOf(file)];
    return { name: file.name, body: answer === undefined ? parseJson(file) : bodyOf(answer) };
  });
}

function bodyOf(answer: HclAnswer): unknown {
  if (answer.error !== undefined) throw new Error(`The configuration does not parse: ${answer.error}`);
  return answer.body;
}

function parseJson({ name, text }: HclFile): unknown {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch (cause) {
    throw new Error(`${name} is not valid JSON: ${(cause as Error).message}`, { cause });
  }
  const repeated = repeatedKey(text, body);
  if (repeated !== undefined)
    throw new Error(`${name} has ${JSON.stringify(repeated)} twice in one object: merge the two`);
  return body;
}

/** Blocks are arrays or, in JSON, possibly one object. */
export function objectsIn(value: unknown): Record<string, unknown>[] {
  return (Array.isArray(value) ? value.flat() : [value]).filter(
    (each) => typeof each === 'object' && each !== null,
  );
}

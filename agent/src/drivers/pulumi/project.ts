/** Name and settings of a Pulumi project, from its file. */

import { parse } from 'yaml';
import { isRecord } from '#contract/schema/is-record.ts';
import type { TreeReader } from '../interface/capabilities.ts';

const fileNames = ['Pulumi.yaml', 'Pulumi.yml', 'Pulumi.json'] as const;

export interface PulumiProject {
  readonly file: string;
  readonly name: string;
  /** The language of its program, such as `yaml` or `nodejs`. */
  readonly language: string;
  /** The folder of the files of stacks, relative to the project; `''` for its own. */
  readonly configurationFolder: string;
  /** The backend that the code names; undefined: none. */
  readonly backend: string | undefined;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function folderOf(file: string, project: Readonly<Record<string, unknown>>): string {
  const folder = textOf(project['stackConfigDir']) ?? textOf(project['config']) ?? '';
  const names = folder.split('/').filter((name) => name !== '' && name !== '.');
  if (folder.startsWith('/') || names.includes('..'))
    throw new Error(`${file}: stackConfigDir must be a folder of the project`);
  return names.join('/');
}

function projectOf(file: string, text: string): PulumiProject {
  let project: unknown;
  try {
    project = parse(text);
  } catch (error) {
    throw new Error(`${file} is not valid: ${(error as Error).message}`, { cause: error });
  }
  const name = isRecord(project) ? textOf(project['name']) : undefined;
  if (!isRecord(project) || name === undefined) throw new Error(`${file} must have the name of the project`);
  const { runtime, backend } = project as Readonly<Record<string, unknown>>;
  const language = textOf(isRecord(runtime) ? runtime['name'] : runtime);
  if (language === undefined) throw new Error(`${file} must have a runtime: the language of the program`);
  return {
    file,
    name,
    language,
    configurationFolder: folderOf(file, project),
    backend: isRecord(backend) ? textOf(backend['url']) : undefined,
  };
}

/** @throws an Error with a message for people if there is no project, or its file cannot be used */
export async function readProject(tree: TreeReader): Promise<PulumiProject> {
  const found: { readonly file: string; readonly text: string }[] = [];
  for (const file of fileNames) {
    const text = await tree.text(file);
    if (text !== null) found.push({ file, text });
  }
  const [first, ...others] = found;
  if (first === undefined)
    throw new Error(
      "there is no Pulumi.yaml in the folder: the template's path must be the folder of a project of Pulumi",
    );
  if (others.length > 0)
    throw new Error(
      `the folder has ${found.map(({ file }) => file).join(' and ')}, and only one of them can be the project: remove the others`,
    );
  return projectOf(first.file, first.text);
}

/**
 * The part of the code that `init` acts on, if all modules are folders of the code: which providers it requires, which
 * modules it calls and where they are, and the settings of the tool.
 */
import { posix } from 'node:path';
import { sha256 } from '#protocol/approved.ts';
import type { TreeReader } from '../../interface/capabilities.ts';
import { elementsOf, type HclElement, hclElements } from './blocks.ts';
import { byBytes, isOverride, isVariablesFile, tofuFiles } from './files.ts';

/** Of all folders together; each commit of a repository reads them before `init`. */
const limits = { files: 2_000, characters: 10_000_000 };
const filesAtOnce = 20;
/** Configurations, tests and whatever later versions of the tools may read. Hidden files, including the lock file, are left out. */
const codeFile = /^(tests\/)?[^.].*\.(tf|tofu|hcl|(tf|tofu)[a-z]*\.json)$/s;
/** Blocks that name no provider and no module. */
const ofPlan = new Set(['variable', 'locals', 'output', 'moved', 'removed']);
/** Blocks that need the provider of their type, or the one that they name. */
const ofProvider = new Set(['resource', 'data', 'ephemeral']);

function only(tokens: readonly string[], names: readonly string[]): (readonly string[])[] {
  return elementsOf(tokens)
    .filter(({ name }) => names.includes(name))
    .map((element) => [element.name, ...element.tokens]);
}

/** Whether its blocks may be merged with resources of the same name. */
function mayOverride(name: string, text: string): boolean {
  if (!isOverride(name, tofuFiles)) return false;
  // An escape may spell any name.
  return !name.endsWith('.json') || /"(resource|data|ephemeral)"|\\u/.test(text);
}

interface CodeOfFolder {
  readonly files: unknown[];
  /** Providers that resources and data need, each once: another resource of the same type installs nothing. */
  readonly providers: Set<string>;
}

function addElement(
  code: CodeOfFolder,
  { name, labels, tokens }: HclElement,
  hasOverrides: boolean,
): unknown[] {
  if (ofPlan.has(name)) return [];
  // A block without a label is an error, which init reports as well.
  if (ofProvider.has(name) && labels.length > 0) {
    const named = hasOverrides ? labels : labels.slice(0, 1);
    code.providers.add(JSON.stringify([name, named, ...only(tokens, ['provider'])]));
    return [];
  }
  if (name === 'module') return [[name, labels, ...only(tokens, ['source', 'version', 'providers'])]];
  return [[name, labels, tokens]];
}

/** Reads the files, of which `left` counts how many more may be read. @throws if one cannot be read, or there are too many */
async function readFiles(
  code: TreeReader,
  folder: string,
  names: readonly string[],
  left: { files: number; characters: number },
): Promise<(readonly [string, string])[]> {
  const files: (readonly [string, string])[] = [];
  left.files -= names.length;
  if (left.files < 0) throw new Error(`The modules have more than ${limits.files} files`);
  for (let first = 0; first < names.length; first += filesAtOnce) {
    const some = names.slice(first, first + filesAtOnce);
    const texts = await Promise.all(some.map((name) => code.text(posix.join(folder, name))));
    for (const [index, text] of texts.entries()) {
      // A name that is not UTF-8: the tool reads the file.
      if (text === null) throw new Error(`${some[index]} cannot be read`);
      left.characters -= text.length;
      files.push([some[index] ?? '', text]);
    }
    if (left.characters < 0) throw new Error(`The modules have more than ${limits.characters} characters`);
  }
  return files;
}

async function readFolder(
  code: TreeReader,
  folder: string,
  left: { files: number; characters: number },
): Promise<unknown> {
  const names = await code.list(folder);
  const tests = names.includes('tests') ? await code.list(posix.join(folder, 'tests')) : [];
  const read = [...names, ...tests.map((name) => `tests/${name}`)]
    .filter((name) => codeFile.test(name) && !isVariablesFile(name))
    .sort(byBytes);
  const files = await readFiles(code, folder, read, left);
  const hasOverrides = files.some(([name, text]) => mayOverride(name, text));
  const found: CodeOfFolder = { files: [], providers: new Set() };
  for (const [name, text] of files) {
    const isHcl = /\.(tf|tofu)$/.test(name);
    found.files.push([
      name,
      isHcl ? hclElements(text).flatMap((element) => addElement(found, element, hasOverrides)) : text,
    ]);
  }
  return [folder, found.files, [...found.providers].sort(byBytes)];
}

/**
 * @param folders of all modules, relative to the root of the tree
 * @returns the hash of what `init` acts on in these folders, without the lock file, which it may complete
 * @throws if a file cannot be read or is not HCL, or there are too many
 */
export async function hashInitInputs(code: TreeReader, folders: readonly string[]): Promise<string> {
  const left = { ...limits };
  const parts: unknown[] = [];
  for (const folder of folders) parts.push(await readFolder(code, folder, left));
  return sha256(JSON.stringify(parts));
}

/** Whether the source of a module is not a constant text. @throws if the text is not HCL */
export function hasComputedSource(text: string): boolean {
  return hclElements(text)
    .filter(({ name }) => name === 'module')
    .flatMap(({ tokens }) => elementsOf(tokens).filter(({ name }) => name === 'source'))
    .some(({ tokens: [source = '', ...more] }) => more.length > 0 || !/^"[^$%\\]*"$/.test(source));
}

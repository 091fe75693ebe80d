/**
 * The part of the code that `init` acts on, if all modules are folders of the code: which providers it requires, which
 * modules it calls and where they are, and the settings of the tool.
 */
import { posix } from 'node:path';
import { sha256 } from '#protocol/approved.ts';
import type { TreeReader } from '../../interface/capabilities.ts';
import { elementsOf, type HclElement, hclElements } from './blocks.ts';
import { byBytes } from './files.ts';

const maxFiles = 500;
/** Values, which install nothing. */
const variablesFile = /\.tfvars(\.json)?$/;
/** Configurations, tests and whatever later versions of the tools may read; not hidden files, and so not the lock file. */
const codeFile = /^(tests\/)?[^.].*\.(tf|tofu|hcl|(tf|tofu)[a-z]*\.json)$/;
/** Blocks that name no provider and no module. */
const ofPlan = new Set(['variable', 'locals', 'output', 'moved', 'removed']);
/** Blocks that need the provider of their type, or the one that they name. */
const ofProvider = new Set(['resource', 'data', 'ephemeral']);

function only(tokens: readonly string[], names: readonly string[]): (readonly string[])[] {
  return elementsOf(tokens)
    .filter(({ name }) => names.includes(name))
    .map((element) => [element.name, ...element.tokens]);
}

function partOf({ name, labels, tokens }: HclElement): unknown[] {
  if (ofPlan.has(name)) return [];
  // A block without a label is an error, which init reports as well.
  if (ofProvider.has(name) && labels.length > 0) return [[name, labels[0], ...only(tokens, ['provider'])]];
  if (name === 'module') return [[name, labels, ...only(tokens, ['source', 'version', 'providers'])]];
  return [[name, labels, tokens]];
}

/** @throws if the text is not HCL */
function partOfText(name: string, text: string): unknown {
  return /\.(tf|tofu)$/.test(name) ? hclElements(text).flatMap(partOf) : text;
}

/**
 * @param folders of all modules, relative to the root of the tree
 * @returns the hash of what `init` acts on in these folders, without the lock file, which it may complete
 * @throws if a file cannot be read, or there are too many
 */
export async function hashReadByInit(code: TreeReader, folders: readonly string[]): Promise<string> {
  const parts = await Promise.all(
    folders.map(async (folder) => {
      const names = await code.list(folder);
      const tests = names.includes('tests') ? await code.list(posix.join(folder, 'tests')) : [];
      const read = [...names, ...tests.map((name) => `tests/${name}`)]
        .filter((name) => codeFile.test(name) && !variablesFile.test(name))
        .sort(byBytes);
      if (read.length > maxFiles) throw new Error(`${folder} has more than ${maxFiles} files`);
      const texts = await Promise.all(read.map((name) => code.text(posix.join(folder, name))));
      return [folder, read.map((name, index) => [name, partOfText(name, texts[index] ?? '')])];
    }),
  );
  return sha256(JSON.stringify(parts));
}

/** Whether the source of a module is not a constant text. @throws if the text is not HCL */
export function hasComputedSource(text: string): boolean {
  return hclElements(text)
    .filter(({ name }) => name === 'module')
    .flatMap(({ tokens }) => elementsOf(tokens).filter(({ name }) => name === 'source'))
    .some(({ tokens: [source = '', ...more] }) => more.length > 0 || !/^"[^$%\\]*"$/.test(source));
}

/** Whether the settings of the tool contain a block. @throws if the text is not HCL */
export function hasSetting(text: string, block: string): boolean {
  return hclElements(text)
    .filter(({ name }) => name === 'terraform')
    .some(({ tokens }) => elementsOf(tokens).some(({ name }) => name === block));
}

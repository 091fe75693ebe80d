/** Units that keep their state in their own backend, according to the files that their configuration reads. */
import { posix } from 'node:path';
import { isRecord } from '#contract/schema/is-record.ts';
import { normalizePath } from '#guards/source-guards.ts';
import type { TreeReader } from '../interface/capabilities.ts';
import type { DriverContext } from '../interface/driver.ts';
import { type CodeBackend, isOurs, noBackend, readCodeBackend } from '../terraform/backend.ts';
import { configurationFiles as codeFiles, type FileRules } from '../terraform/code/files.ts';
import { parseTerragruntFiles, type TerragruntFile, UnreadableFile } from './read-file.ts';
import type { TerragruntUnit } from './units.ts';

type CodeContext = Pick<DriverContext, 'job' | 'tree' | 'code'>;

/** A reader of files by their paths from the configuration's folder; null: outside of the repository. */
function codeReader({ job, tree, code }: CodeContext): (path: string) => Promise<string | null> {
  const folder = normalizePath(job.source.path ?? '');
  return async (path) => {
    if (code === undefined) return path.startsWith('..') ? null : tree.text(path);
    const whole = posix.join(folder, path);
    return /^\.\.(\/|$)/.test(whole) ? null : code.text(whole);
  };
}

/** A reader of a folder below the configuration's. */
function folderReader(tree: TreeReader, folder: string): TreeReader {
  return {
    list: (name) => tree.list(posix.join(folder, name)),
    text: (name) => tree.text(posix.join(folder, name)),
  };
}

function blocksIn(value: unknown): Record<string, unknown>[] {
  return (Array.isArray(value) ? value.flat() : [value]).filter(isRecord);
}

/** A generated file may contain any text; only a constant one is seen. @returns the type of the backend, or null */
function backendNamedIn(text: string): string | null {
  const start = text.search(/\bterraform\s*\{/);
  if (start === -1) return null;
  const [, type, cloud] = /\b(?:backend\s+"(?!local")([^"]*)|(cloud)\s*\{)/.exec(text.slice(start)) ?? [];
  return type ?? cloud ?? null;
}

function namesBackend(text: string): boolean {
  return backendNamedIn(text) !== null;
}

function generatesBackend(generated: unknown): boolean {
  return blocksIn(generated).some((labels) =>
    Object.values(labels)
      .flatMap(blocksIn)
      .some(({ contents }) => typeof contents === 'string' && namesBackend(contents)),
  );
}

/** The backend of a folder; of a file that our parser cannot read, the text decides. */
export async function backendInFolder(folder: TreeReader, rules: FileRules): Promise<CodeBackend> {
  return readCodeBackend(folder, rules).catch(async () => {
    const names = codeFiles(await folder.list(''), rules);
    const texts = await Promise.all(names.map((name) => folder.text(name)));
    const type = texts.map((text) => backendNamedIn(text ?? '')).find((found) => found !== null);
    return type == null ? noBackend : { kind: 'backend', type, hasWorkspaces: type !== 'http' };
  });
}

const mayConfigureBackend = (text: string) => /remote_state|generate/.test(text);

/** The text between the beginning of each `remote_state` and the end of the first block in it. */
function remoteStateTexts(text: string): string[] {
  return text
    .split(/^[ \t]*remote_state\b/m)
    .slice(1)
    .map((rest) => rest.split('}', 1)[0] ?? '');
}

/** Without a parsed file, the text decides; what init sets up is compared with that decision. */
function configuresBackend(body: TerragruntFile): boolean {
  if (body instanceof UnreadableFile)
    return (
      remoteStateTexts(body.text).some((text) => !/backend[ \t]*=[ \t]*"local"/.test(text)) ||
      namesBackend(body.text)
    );
  const remote = blocksIn(body['remote_state']).some(({ backend }) => backend !== 'local');
  return remote || generatesBackend(body['generate']);
}

/** Files of terragrunt by path, parsed; a file that does not exist or does not matter has no entry. */
export type ParsedFiles = ReadonlyMap<string, TerragruntFile>;

/** The configuration of a unit: the file of either name, and the files that it reads. */
export function configurationFiles(unit: TerragruntUnit): string[] {
  return [
    ...configurationNames.map((name) => posix.join(unit.path, name)),
    ...unit.reading.filter((path) => /\.hcl(\.json)?$/.test(path)),
  ];
}
const configurationNames = ['terragrunt.hcl', 'terragrunt.hcl.json'];

/**
 * Parses the configuration of units.
 * @param mayMatter false for a text that is not parsed
 */
export async function parseConfigurations(
  context: CodeContext,
  units: readonly TerragruntUnit[],
  mayMatter: (text: string) => boolean,
): Promise<ParsedFiles> {
  const read = codeReader(context);
  const names = [...new Set(units.flatMap(configurationFiles))];
  const texts = await Promise.all(names.map(async (name) => ({ name, text: await read(name) })));
  const files = texts.filter(
    (file): file is { name: string; text: string } => file.text !== null && mayMatter(file.text),
  );
  const bodies = await parseTerragruntFiles(files);
  return new Map(files.map(({ name }, index) => [name, bodies[index] ?? {}]));
}

/**
 * The paths of the units whose own backend has their state: a `remote_state` block, a `generate` block with a backend,
 * or a backend in the files of terraform that are in the unit or in its source in this repository.
 */
export async function unitsWithBackend(
  context: CodeContext,
  units: readonly TerragruntUnit[],
  rules: FileRules,
): Promise<string[]> {
  const parsed = await parseConfigurations(context, units, mayConfigureBackend);
  const read = codeReader(context);
  const texts = new Map<string, Promise<string | null>>();
  const textOf = (path: string) => {
    const text = texts.get(path) ?? read(path);
    texts.set(path, text);
    return text;
  };
  const found: string[] = [];
  for (const unit of units) {
    const isConfigured = configurationFiles(unit).some((name) => configuresBackend(parsed.get(name) ?? {}));
    const sources = unit.reading.filter((path) => /\.(tf|tofu)$/.test(path));
    const isInSource = async () =>
      (await Promise.all(sources.map(textOf))).some((text) => text !== null && namesBackend(text));
    if (
      isConfigured ||
      !isOurs(await backendInFolder(folderReader(context.tree, unit.path), rules)) ||
      (await isInSource())
    )
      found.push(unit.path);
  }
  return found;
}

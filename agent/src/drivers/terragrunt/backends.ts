/** Which units keep their state in a backend of their own, according to the files that their configuration reads. */
import { posix } from 'node:path';
import { normalizePath } from '#guards/source-guards.ts';
import { isRecord } from '#contract/schema/is-record.ts';
import type { DriverContext, TreeReader } from '../driver.ts';
import { isOurs, readCodeBackend } from '../terraform/backend.ts';
import type { FileRules } from '../terraform/files.ts';
import { parseHcl } from '../terraform/hcl.ts';
import type { Unit } from './units.ts';

type CodeContext = Pick<DriverContext, 'job' | 'tree' | 'code'>;

/** A reader of files by their paths from the configuration's folder; null: outside of the repository. */
export function codeReader({ job, tree, code }: CodeContext): (path: string) => Promise<string | null> {
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

/** A generated file may contain any text; only a constant one is seen. */
function namesBackend(text: string): boolean {
  const start = text.search(/\bterraform\s*\{/);
  return start !== -1 && /\b(?:backend\s+"(?!local")|cloud\s*\{)/.test(text.slice(start));
}

function generatesBackend(generated: unknown): boolean {
  return blocksIn(generated).some((labels) =>
    Object.values(labels)
      .flatMap(blocksIn)
      .some(({ contents }) => typeof contents === 'string' && namesBackend(contents)),
  );
}

const mayConfigureBackend = (text: string) => /remote_state|generate/.test(text);

function configuresBackend(body: Record<string, unknown>): boolean {
  const remote = blocksIn(body['remote_state']).some(({ backend }) => backend !== 'local');
  return remote || generatesBackend(body['generate']);
}

/** Files of terragrunt by path, parsed; a file that cannot be read or does not matter has nothing. */
export type ParsedFiles = ReadonlyMap<string, Readonly<Record<string, unknown>>>;

/** The configuration of a unit: the file of that name, and the files that it reads. */
export function configurationFiles(unit: Unit): string[] {
  return [posix.join(unit.path, configurationName), ...unit.reading.filter((path) => path.endsWith('.hcl'))];
}
export const configurationName = 'terragrunt.hcl';

/**
 * Parses the configuration of units.
 * @param mayMatter false for a text that is not parsed
 * @throws an Error with the parser's message, with file, line and column
 */
export async function parseConfigurations(
  context: CodeContext,
  units: readonly Unit[],
  mayMatter: (text: string) => boolean,
): Promise<ParsedFiles> {
  const read = codeReader(context);
  const names = [...new Set(units.flatMap(configurationFiles))];
  const texts = await Promise.all(names.map(async (name) => ({ name, text: await read(name) })));
  const files = texts.filter(
    (file): file is { name: string; text: string } => file.text !== null && mayMatter(file.text),
  );
  const answers = await parseHcl(files);
  return new Map(
    files.map(({ name }, index) => {
      const answer = answers[index];
      if (answer === undefined || answer.error !== undefined)
        throw new Error(`The configuration does not parse: ${answer?.error ?? name}`);
      return [name, isRecord(answer.body) ? answer.body : {}];
    }),
  );
}

/**
 * The paths of the units whose own backend has their state: a `remote_state` block, a `generate` block with a backend,
 * or a backend in the files of terraform that are in the unit or in its source in this repository.
 * @throws an Error with a message for people if a file cannot be parsed
 */
export async function unitsWithBackend(
  context: CodeContext,
  units: readonly Unit[],
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
      !isOurs(await readCodeBackend(folderReader(context.tree, unit.path), rules)) ||
      (await isInSource())
    )
      found.push(unit.path);
  }
  return found;
}

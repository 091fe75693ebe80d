/** Outputs of other units that the configuration of a unit uses. */
import { posix } from 'node:path';
import { isRecord } from '#contract/schema/is-record.ts';
import { configurationFiles, type ParsedFiles } from './backends.ts';
import { UnreadableFile } from './read-file.ts';
import type { TerragruntUnit } from './units.ts';

/** Outputs of another unit that a unit's configuration uses. */
export interface UsedOutputs {
  readonly unit: string;
  /** Null: any of them. */
  readonly outputs: readonly string[] | null;
}

const attribute = String.raw`(?:\s*\.\s*([\w-]+)|\s*\[\s*"([^"]+)"\s*\])`;
/** `dependency`, and up to three names after it: those of the block, of its attribute and of the output. */
const reference = new RegExp(
  String.raw`(?<![\w.-])dependency(?![\w-])(?:${attribute}(?:${attribute}(?:${attribute})?)?)?`,
  'g',
);

/** The texts of a body that contain expressions. */
function expressionsIn(body: Readonly<Record<string, unknown>>): string[] {
  const found: string[] = [];
  const open: unknown[] = [body];
  while (open.length > 0) {
    const value = open.pop();
    if (typeof value === 'string') {
      if (/[$%]\{/.test(value)) found.push(value);
    } else if (typeof value === 'object' && value !== null)
      for (const each of Object.values(value)) open.push(each);
  }
  return found;
}

/** By the name of the `dependency` block; null: any output. */
type OutputsByName = Map<string, readonly string[] | null>;

/** Notes the outputs that one text uses. @returns whether it uses the blocks without naming one */
function noteOutputs(text: string, used: OutputsByName): boolean {
  let isAny = false;
  for (const match of text.matchAll(reference)) {
    const [name, part, output] = [match[1] ?? match[2], match[3] ?? match[4], match[5] ?? match[6]];
    if (name === undefined) isAny = true;
    // A block that is passed on as a whole takes its outputs along.
    else if (part !== 'config_path') {
      const known = used.get(name);
      const isWhole = part !== 'outputs' || output === undefined || known === null;
      used.set(name, isWhole ? null : [...(known ?? []), output]);
    }
  }
  return isAny;
}

function dependencyBlocks(files: readonly Readonly<Record<string, unknown>>[]): Map<string, unknown> {
  const blocks = files.flatMap((body) =>
    isRecord(body['dependency']) ? Object.entries(body['dependency']) : [],
  );
  return new Map(
    blocks.map(([name, value]) => {
      const block: unknown = Array.isArray(value) ? value[0] : value;
      return [name, isRecord(block) ? block['config_path'] : undefined];
    }),
  );
}

/** @param parsed files of terragrunt by path */
export function usedOutputs(unit: TerragruntUnit, parsed: ParsedFiles): UsedOutputs[] {
  const files: Readonly<Record<string, unknown>>[] = [];
  for (const name of configurationFiles(unit)) {
    const file = parsed.get(name);
    // It may use any output of all of them.
    if (file instanceof UnreadableFile)
      return unit.dependencies.map((path) => ({ unit: path, outputs: null }));
    if (file !== undefined) files.push(file);
  }
  const blocks = dependencyBlocks(files);
  const used: OutputsByName = new Map();
  for (const text of files.flatMap(expressionsIn))
    if (noteOutputs(text, used)) for (const name of blocks.keys()) used.set(name, null);
  return [...used].flatMap(([name, outputs]) => {
    const path = blocks.get(name);
    const isKnown = typeof path === 'string' && !/[$%]\{/.test(path);
    const units = isKnown ? [posix.normalize(posix.join(unit.path, path))] : unit.dependencies;
    return units.map((each) => ({ unit: each, outputs: isKnown ? outputs : null }));
  });
}

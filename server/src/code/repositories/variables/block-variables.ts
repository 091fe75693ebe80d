/** The `variable` blocks in the HCL and JSON files of one folder, in the order of the files. */

import { join } from 'node:path/posix';
import type { RepositoryVariable } from '#contract/repositories/shapes.ts';
import { parseExactly } from '#contract/schema/exact-json.ts';
import { isRecord, recordOf } from '#contract/schema/is-record.ts';
import { isConstantTemplate, unescapeTemplate } from '#guards/hcl/constant-template.ts';
import { type HclReader, openHclReader } from '#guards/hcl/parse-hcl-file.ts';
import type { DeclaredVariables } from '#protocol/tools/declared-variables.ts';
import { type DeclaringCode, rowOf, UnreadableCode } from './row.ts';

interface CodeFile {
  readonly name: string;
  readonly text: string;
}

/** One block: its name, and what its attributes say. */
interface Block {
  readonly name: string;
  readonly attributes: Readonly<Record<string, unknown>>;
}

type Blocks = Extract<DeclaredVariables, { form: 'blocks' }>;

const overrides = /(^|_)override\.(tf|tofu)(\.json)?$/;
const structures = /^(list|set|map|object|tuple)\b/;

/** @throws UnreadableCode that names the file */
export async function blockVariables(
  { tree, path, signal }: DeclaringCode,
  declared: Blocks,
): Promise<RepositoryVariable[]> {
  const names = namesOf((await tree.namesIn(path)) ?? [], declared);
  const texts = await tree.read(names.map((name) => join(path, name)));
  await using reader = openHclReader();
  const known = new Map<string, Block>();
  for (const name of names) {
    signal.throwIfAborted();
    const text = texts.get(join(path, name));
    if (text === undefined) continue;
    for (const block of await blocksOf(reader, { name, text })) {
      const before = known.get(block.name);
      // The tools merge overrides by attribute, and refuse a second block elsewhere.
      if (before === undefined) known.set(block.name, block);
      else if (overrides.test(name))
        known.set(block.name, { ...block, attributes: { ...before.attributes, ...block.attributes } });
    }
  }
  return [...known.values()].map(variableOf);
}

/** A tool with an ending of its own prefers it where two files differ in nothing else; overrides are read last. */
function namesOf(all: readonly string[], { files, preferred }: Blocks): string[] {
  const found = all.filter((name) => files.test(name) && !name.startsWith('.'));
  const isReplaced = (name: string) =>
    preferred !== undefined &&
    /\.tf(\.json)?$/.test(name) &&
    found.includes(name.replace(/\.tf(\.json)?$/, `.${preferred}$1`));
  const isOverride = (name: string) => Number(overrides.test(name));
  return found
    .filter((name) => !isReplaced(name))
    .toSorted((one, other) => isOverride(one) - isOverride(other) || (one < other ? -1 : 1));
}

async function blocksOf(reader: HclReader, { name, text }: CodeFile): Promise<Block[]> {
  if (name.endsWith('.json')) return jsonBlocks(name, text);
  let body: Record<string, unknown>;
  try {
    body = await reader.parse({ name, text });
  } catch (error) {
    throw new UnreadableCode((error as Error).message, { cause: error });
  }
  const declared = entriesOf(body['variable']);
  const places = placesIn(withoutComments(text));
  const placeOf = (block: Block) => places.get(block.name) ?? text.length;
  return declared.toSorted((one, other) => placeOf(one) - placeOf(other));
}

function jsonBlocks(name: string, text: string): Block[] {
  let body: unknown;
  try {
    body = parseExactly(text);
  } catch (error) {
    throw new UnreadableCode(`${name}: it is not valid JSON: ${(error as Error).message}`, { cause: error });
  }
  const parts = (Array.isArray(body) ? body : [body]) as unknown[];
  return parts.flatMap((part) =>
    isRecord(part) ? [part['variable']].flat().flatMap((declared) => entriesOf(declared)) : [],
  );
}

function entriesOf(declared: unknown): Block[] {
  if (!isRecord(declared)) return [];
  return Object.entries(declared).map(([name, blocks]) => {
    const first: unknown = [blocks].flat()[0];
    return { name, attributes: recordOf(first) };
  });
}

/**
 * The same length, so that places are the same; a quote in a comment must not look like a string. Takes linear time
 * for any text: what opens a string or a comment is never searched again.
 */
function withoutComments(text: string): string {
  const openings = /"(?:\\.|[^"\\\n])*"?|#[^\n]*|\/\/[^\n]*|\/\*/g;
  const lastClosing = text.lastIndexOf('*/');
  let plain = '';
  let kept = 0;
  for (let found = openings.exec(text); found !== null; found = openings.exec(text)) {
    const isBlock = found[0] === '/*';
    if (found[0].startsWith('"') || (isBlock && lastClosing < openings.lastIndex)) continue;
    if (isBlock) openings.lastIndex = text.indexOf('*/', openings.lastIndex) + 2;
    const comment = text.slice(found.index, openings.lastIndex);
    plain += text.slice(kept, found.index) + comment.replaceAll(/[^\n]/g, ' ');
    kept = openings.lastIndex;
  }
  return plain + text.slice(kept);
}

/** Start of each variable's block. Names are quoted or bare identifiers; one pass finds those of all. */
function placesIn(text: string): ReadonlyMap<string, number> {
  const beginnings = text.matchAll(/^[ \t]*variable\s+(?:"([^"\n]*)"|([\p{L}\p{N}_-]+))\s*\{/gmu);
  const places = new Map<string, number>();
  for (const { 1: quoted, 2: bare = '', index } of beginnings) {
    const name = quoted ?? bare;
    if (!places.has(name)) places.set(name, index);
  }
  return places;
}

function variableOf({ name, attributes }: Block): RepositoryVariable {
  const type = plainType(attributes['type']);
  const hasDefault = Object.hasOwn(attributes, 'default');
  const value = hasDefault ? literalValue(attributes['default']) : undefined;
  return rowOf({
    name,
    type: 1,
    value,
    description:
      typeof attributes['description'] === 'string' ? literal(attributes['description']) : undefined,
    isSensitive: attributes['sensitive'] === true,
    isRequired: !hasDefault,
    isComplex: structures.test(type),
    choices: choicesOf(attributes['validation'], name),
    valueType: type === 'any' ? undefined : type,
    isNullable: attributes['nullable'] !== false,
    rules: rulesOf(attributes['validation']),
  });
}

/** Literal texts of rules. */
function rulesOf(validation: unknown): string[] {
  return [validation]
    .flat()
    .map((rule) => (isRecord(rule) ? rule['error_message'] : undefined))
    .filter((text) => typeof text === 'string' && isConstantTemplate(text))
    .map((text) => unescapeTemplate(text as string));
}

/** `${list(string)}` → `list(string)`; older code writes types as texts. */
function plainType(type: unknown): string {
  return typeof type === 'string' ? type.replace(/^\$\{(.*)\}$/s, '$1').trim() : '';
}

function literal(text: string): string {
  return isConstantTemplate(text) ? unescapeTemplate(text) : text;
}

function literalValue(value: unknown): unknown {
  if (typeof value === 'string') return literal(value);
  if (Array.isArray(value)) return value.map(literalValue);
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [literal(key), literalValue(inner)]));
}

/** The texts of a rule that does nothing but list them: `contains(["a", "b"], var.name)`. */
function choicesOf(validation: unknown, name: string): string[] | undefined {
  for (const rule of [validation].flat()) {
    const condition = isRecord(rule) && typeof rule['condition'] === 'string' ? rule['condition'] : '';
    const [, list, variable] =
      /^\$\{\s*contains\(\s*(\[[^\]]*\])\s*,\s*var\.([\w-]+)\s*\)\s*\}$/s.exec(condition) ?? [];
    if (list === undefined || variable !== name) continue;
    const texts = textsOf(list.replace(/,\s*\]$/, ']'));
    if (texts !== undefined) return texts;
  }
  return undefined;
}

function textsOf(list: string): string[] | undefined {
  try {
    const values = JSON.parse(list) as unknown[];
    const isText = (value: unknown): value is string =>
      typeof value === 'string' && isConstantTemplate(value);
    return values.every(isText) ? values.map(unescapeTemplate) : undefined;
  } catch {
    return undefined;
  }
}

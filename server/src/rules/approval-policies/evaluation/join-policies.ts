/**
 * Several policies in one process of opa, which reads the plan once for all of them: each gets a package of its own, by
 * its package line alone. Policies whose meaning could depend on anything else of it are left out.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fastq from 'fastq';
import { policyRules } from '#contract/deployments/policy-verdict.ts';
import { annotationMark, type CompiledPolicy, compilePolicy, type PolicyFiles } from './compile-policy.ts';
import type { OpaSettings } from './opa-command.ts';
import { PolicyError } from './policy-error.ts';

export interface JoinedPolicies {
  readonly compiled: CompiledPolicy;
  /** Hashes of the policies in it, by the names of their answers. */
  readonly members: ReadonlyMap<string, string>;
}

/** Each starts commands of opa. */
const preparedAtOnce = 4;

/**
 * Words by which a policy could refer to its package or to another one: the document `data`, wherever the word stands,
 * and the functions about the policy itself. Code in template strings could contain the words in an escaped form.
 */
const refersToPackages = /\bdata\b|\brego\b(?!\.v1\b)|\$["`]/;

/**
 * Functions whose results a process or an evaluation remembers for all packages, under keys that can coincide (opa 1.19,
 * `v1/topdown`: glob.go, regex.go, graphql.go): one policy could change what another one says. The first word of a call
 * cannot be written with escapes.
 */
const sharesMemory =
  /\b(?:glob|graphql|rand|uuid)\b|\bregex\b(?!\.(?:match|replace|split|find_n|find_all_string_submatch_n|is_valid|globs_match)\b)/;

/** Other ends of lines than these would make the package line a question of opinion. */
const unusualSpace = /[\r\v\f\u0085\u2028\u2029\ufeff]/;

const packageLine = 'package envarium';

/**
 * Pure. A file in another package, which nothing but its line says.
 * @returns null where more than the package line would have to change
 */
function withPackage(text: string, name: string): string | null {
  const isOut = [refersToPackages, sharesMemory, unusualSpace].some((reason) => reason.test(text));
  if (isOut || text.search(annotationMark) >= 0) return null;
  const lines = text.split('\n');
  const first = lines.findIndex((line) => line.trim() !== '' && !line.startsWith('#'));
  if (lines[first] !== packageLine) return null;
  return lines.with(first, `package ${name}`).join('\n');
}

/** The files of a policy in another package; null where one of them cannot be in it. */
function moved(files: PolicyFiles, name: string): string[] | null {
  const texts = [...files.values()].map((text) => withPackage(text, name));
  return texts.includes(null) ? null : (texts as string[]);
}

/** The rules of one policy, each of which may be missing. The policy itself cannot have the package. */
function viewModule(top: string): string {
  const rules = policyRules.map((rule) => `${rule} := data.${top}.envarium.${rule}`);
  return [`package view_${top}`, 'import rego.v1', ...rules, ''].join('\n\n');
}

function verdictModule(tops: readonly string[]): string {
  const results = tops.map((top) => `result["${top}"] := data.view_${top}`);
  return ['package envarium_verdict', 'import rego.v1', ...results, ''].join('\n\n');
}

/** Compiles one alone, and puts it into the folder of all. @returns whether it is a member now */
async function prepare(settings: OpaSettings, files: PolicyFiles, folder: string, top: string) {
  const texts = moved(files, `${top}.envarium`);
  if (texts === null) return false;
  const alone = join(folder, `${top}-alone`);
  try {
    const { isOld } = await compilePolicy(settings, files, alone);
    if (isOld) return false;
  } catch (error) {
    if (error instanceof PolicyError) return false;
    throw error;
  } finally {
    await rm(alone, { recursive: true, force: true });
  }
  const own = join(folder, 'code', top);
  await mkdir(own, { mode: 0o700 });
  for (const [index, text] of texts.entries()) await writeFile(join(own, `${index}.rego`), text);
  await writeFile(join(own, 'view.rego'), viewModule(top));
  return true;
}

/**
 * @param policies of one plan, by their hashes; they see nothing of each other, as none of them refers to packages or
 *   uses what the process remembers
 * @param folder where they are compiled, which does not exist; the caller removes it, also after a failure
 * @param stopping ends it between two policies
 * @returns null where fewer than two can be joined; those that are left out are evaluated alone, and say then what is
 *   wrong with them
 */
export async function joinPolicies(
  settings: OpaSettings,
  policies: ReadonlyMap<string, PolicyFiles>,
  folder: string,
  stopping: AbortSignal,
): Promise<JoinedPolicies | null> {
  const code = join(folder, 'code');
  await mkdir(code, { recursive: true, mode: 0o700 });
  const members = new Map<string, string>();
  const preparing = fastq.promise(async ([hash, files]: [string, PolicyFiles]) => {
    stopping.throwIfAborted();
    const top = `p${randomBytes(16).toString('hex')}`;
    if (await prepare(settings, files, folder, top)) members.set(top, hash);
  }, preparedAtOnce);
  // All of them, so that nothing writes into the folder afterwards.
  const ended = await Promise.allSettled([...policies].map((each) => preparing.push(each)));
  for (const each of ended) if (each.status === 'rejected') throw each.reason;
  if (members.size < 2) return null;
  await writeFile(join(code, 'envarium_verdict.rego'), verdictModule([...members.keys()]));
  return { compiled: { folder: code, isOld: false }, members };
}

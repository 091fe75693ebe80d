/**
 * Several policies in one process of opa, which reads the plan once for all of them: each is moved below a package of
 * its own, by opa's own command. What cannot be moved without another meaning is left out.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fastq from 'fastq';
import { policyRules } from '#contract/deployments/policy-verdict.ts';
import { type CompiledPolicy, compilePolicy, type PolicyFiles } from './compile-policy.ts';
import { type OpaSettings, runOpa } from './opa-command.ts';
import { PolicyError } from './policy-error.ts';

export interface JoinedPolicies {
  readonly compiled: CompiledPolicy;
  /** Hashes of the policies in it, by the names of their answers. */
  readonly members: ReadonlyMap<string, string>;
}

/** Each starts several commands of opa. */
const preparedAtOnce = 4;

/** Annotations are not moved, so what reads them is not joined. */
const readsAnnotations = /\brego\s*\.\s*metadata\b/;

/** The top names of the packages that files have: opa writes what it has moved in its own format, and not the rest. */
const packageLine = /^package\s+([A-Za-z_]\w*)/m;

function topsOf(files: PolicyFiles): string[] {
  return [...new Set([...files.values()].flatMap((text) => packageLine.exec(text)?.[1] ?? []))];
}

/** The first line of code. */
function firstLine(text: string): string {
  return text.split('\n').find((line) => line.trim() !== '' && !line.startsWith('#')) ?? '';
}

/**
 * Moves the packages of a policy, and what refers to them.
 * @param top the name that they get above their own
 * @returns whether all of it was moved; opa refuses what finds packages by names that it computes
 */
async function move(settings: OpaSettings, files: PolicyFiles, folder: string, top: string) {
  const mappings = topsOf(files).flatMap((name) => ['-p', `data.${name}:data.${top}.${name}`]);
  const names = (await readdir(folder)).filter((name) => name.endsWith('.rego'));
  const { exitCode } = await runOpa(settings, ['refactor', 'move', '--write', ...mappings, ...names], folder);
  if (exitCode !== 0) return false;
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
  return texts.every((text) => firstLine(text).startsWith(`package ${top}.`));
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

/** Compiles one alone, and moves it. @returns whether it is a member now */
async function prepare(settings: OpaSettings, files: PolicyFiles, folder: string, top: string) {
  if ([...files.values()].some((text) => readsAnnotations.test(text))) return false;
  const alone = join(folder, `${top}-alone`);
  try {
    const { isOld, checkedFolder } = await compilePolicy(settings, files, alone);
    if (isOld) return false;
    const names = (await readdir(checkedFolder)).filter((name) => name !== 'envarium_verdict.rego');
    const own = join(folder, 'code', top);
    await mkdir(own, { recursive: true, mode: 0o700 });
    for (const name of names) await writeFile(join(own, name), await readFile(join(checkedFolder, name)));
    if (!(await move(settings, files, own, top))) {
      await rm(own, { recursive: true });
      return false;
    }
    await writeFile(join(own, 'view.rego'), viewModule(top));
    return true;
  } catch (error) {
    if (error instanceof PolicyError) return false;
    throw error;
  } finally {
    await rm(alone, { recursive: true, force: true });
  }
}

/**
 * @param policies of one plan, by their hashes; they see nothing of each other, as nobody can guess the names of their
 *   packages
 * @param folder where they are compiled, which does not exist
 * @returns null where fewer than two can be joined; those that are left out are evaluated alone, and say then what is
 *   wrong with them
 */
export async function joinPolicies(
  settings: OpaSettings,
  policies: ReadonlyMap<string, PolicyFiles>,
  folder: string,
): Promise<JoinedPolicies | null> {
  const code = join(folder, 'code');
  await mkdir(code, { recursive: true, mode: 0o700 });
  const members = new Map<string, string>();
  const preparing = fastq.promise(async ([hash, files]: [string, PolicyFiles]) => {
    const top = `p${randomBytes(16).toString('hex')}`;
    if (await prepare(settings, files, folder, top)) members.set(top, hash);
  }, preparedAtOnce);
  await Promise.all([...policies].map((each) => preparing.push(each)));
  if (members.size < 2) return null;
  await writeFile(join(code, 'envarium_verdict.rego'), verdictModule([...members.keys()]));
  return { compiled: { folder: code, checkedFolder: code, isOld: false }, members };
}

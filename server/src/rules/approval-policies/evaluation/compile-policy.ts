/**
 * Compiles the files of a policy, as opa's language of today or of its older versions, without the functions that
 * reach out of the evaluation: what calls them does not compile.
 */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { type OpaSettings, runOpa } from './opa-command.ts';
import { PolicyError } from './policy-error.ts';
import { isUncached } from './uncached-functions.ts';

/** The files of a policy: names below its folder, and texts. */
export type PolicyFiles = ReadonlyMap<string, string>;

/** Code that a process of opa loads. */
export interface LoadedCode {
  /** The folder with its files. */
  readonly folder: string;
  /** Written in the language of opa before 1.0. */
  readonly isOld: boolean;
}

export interface CompiledPolicy extends LoadedCode {
  /** It can take turns with others in one process: a single file, and no functions of which opa caches results. */
  readonly isShareable: boolean;
}

/**
 * Functions that send something, look at the machine, or read its environment; those about schemas read files and
 * addresses that `$ref` in a schema names.
 */
const refusedFunctions = [
  'http.send',
  'net.lookup_ip_addr',
  'opa.runtime',
  'json.match_schema',
  'json.verify_schema',
];

const mostErrors = 10;

/** Reads the four rules, each of which may be missing. */
const verdictModule = `package envarium_verdict

import rego.v1

result.deny := data.envarium.deny

result.pending := data.envarium.pending

result.allow := data.envarium.allow

result.warn := data.envarium.warn
`;

interface Complaint {
  readonly message: string;
  readonly code?: string;
  readonly location?: { readonly file: string; readonly row: number };
}

/**
 * Writes two lists of functions, as opa reads them: those that policies may call, and of them those of policies that
 * share a process.
 * @returns their files
 */
async function writeCapabilities(
  settings: OpaSettings,
  folder: string,
): Promise<{ readonly allowed: string; readonly uncached: string }> {
  const { exitCode, output, complaints } = await runOpa(settings, ['capabilities', '--current'], folder);
  if (exitCode !== 0) throw new PolicyError(`opa capabilities failed: ${complaints.slice(-500)}`);
  const all = JSON.parse(output) as { readonly builtins: readonly { readonly name: string }[] };
  const builtins = all.builtins.filter(({ name }) => !refusedFunctions.includes(name));
  const allowed = join(folder, 'capabilities.json');
  const uncached = join(folder, 'uncached.json');
  const few = builtins.filter(({ name }) => isUncached(name));
  await writeFile(allowed, JSON.stringify({ ...all, builtins, allow_net: [] }));
  await writeFile(uncached, JSON.stringify({ ...all, builtins: few, allow_net: [] }));
  return { allowed, uncached };
}

/** As the error of a run shows them. @param names of the files in the policy, by their names in the folder */
function wordsOf(complaints: readonly Complaint[], names: ReadonlyMap<string, string>): string {
  const lines = complaints.slice(0, mostErrors).map(({ message, location }) => {
    const isRefused = refusedFunctions.some((name) => message.includes(`undefined function ${name}`));
    const reason = isRefused ? ' (policies may not reach the network or the machine)' : '';
    const file = location && names.get(basename(location.file));
    return `${file === undefined ? '' : `${file}:${location?.row}: `}${message}${reason}`;
  });
  return lines.join('\n');
}

async function complaintsOf(
  settings: OpaSettings,
  { folder, isOld }: LoadedCode,
  capabilities: string,
): Promise<readonly Complaint[]> {
  const version = isOld ? ['--v0-compatible'] : [];
  const args = ['check', '--format', 'json', '--capabilities', capabilities, ...version, folder];
  const { exitCode, output, complaints } = await runOpa(settings, args, folder);
  if (exitCode === 0) return [];
  try {
    const { errors } = JSON.parse(output || complaints) as {
      readonly errors: Complaint | readonly Complaint[];
    };
    return [errors].flat();
  } catch {
    return [{ message: (output + complaints).trim().slice(-2000) || 'opa ended without a message' }];
  }
}

function isParsed(complaints: readonly Complaint[]): boolean {
  return !complaints.some(({ code }) => code === 'rego_parse_error');
}

/** The comment that makes the ones after it annotations. A comment ends with its line: what is below it is code. */
const annotationMark = /#(?:[^\S\n]|\u0085)*METADATA/giu;

/** Writes the files under names of ours. @returns their names in the policy, by ours */
async function writeFiles(
  files: PolicyFiles,
  { code, checked }: { readonly code: string; readonly checked: string },
): Promise<ReadonlyMap<string, string>> {
  const names = new Map([...files.keys()].map((name, index) => [`${index}.rego`, name]));
  for (const folder of [code, checked]) {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeFile(join(folder, 'envarium_verdict.rego'), verdictModule);
  }
  for (const [own, name] of names) {
    const text = files.get(name) ?? '';
    await writeFile(join(code, own), text);
    // The compiler would read files of this machine that annotations name as schemas; the evaluation ignores them.
    await writeFile(join(checked, own), text.replaceAll(annotationMark, '# -'));
  }
  return names;
}

/**
 * Refuses packages that would change how policies are evaluated. The compiler names the packages: their lines can have
 * comments and line breaks, and texts can look like one.
 * @param policy which compiles. @throws PolicyError
 */
async function checkPackages(
  settings: OpaSettings,
  { folder, isOld }: LoadedCode,
  names: ReadonlyMap<string, string>,
): Promise<void> {
  const version = isOld ? ['--v0-compatible'] : [];
  const args = ['inspect', '--format', 'json', ...version, folder];
  const { exitCode, output, complaints } = await runOpa(settings, args, folder);
  if (exitCode !== 0) throw new PolicyError(`opa inspect failed: ${complaints.slice(-500)}`);
  const { namespaces } = JSON.parse(output) as {
    readonly namespaces: Readonly<Record<string, readonly string[]>>;
  };
  if (!Object.hasOwn(namespaces, 'data.envarium'))
    throw new PolicyError(
      'None of its files has the package "envarium", whose rules are read: begin one with "package envarium"',
    );
  for (const [name, paths] of Object.entries(namespaces)) {
    const file = paths.map((path) => names.get(basename(path))).find((one) => one !== undefined);
    if (file !== undefined && /^data\.(?:system|envarium_verdict)(?![A-Za-z0-9_])/.test(name))
      throw new PolicyError(`${file}: packages "system" and "envarium_verdict" cannot be used`);
  }
}

/**
 * @param files with the ending `.rego`
 * @param folder where it is compiled, which does not exist
 * @throws PolicyError with the compiler's messages
 */
export async function compilePolicy(
  settings: OpaSettings,
  files: PolicyFiles,
  folder: string,
): Promise<CompiledPolicy> {
  const code = join(folder, 'code');
  const checked = join(folder, 'checked');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  try {
    const { allowed, uncached } = await writeCapabilities(settings, folder);
    const names = await writeFiles(files, { code, checked });
    const complaints = await complaintsOf(settings, { folder: checked, isOld: false }, allowed);
    const others =
      complaints.length === 0
        ? null
        : await complaintsOf(settings, { folder: checked, isOld: true }, allowed);
    if (others !== null && others.length > 0) {
      const shown = !isParsed(complaints) && isParsed(others) ? others : complaints;
      throw new PolicyError(`The policy does not compile:\n${wordsOf(shown, names)}`);
    }
    const isOld = others !== null;
    const compiled = { folder: checked, isOld };
    await checkPackages(settings, compiled, names);
    const isShareable = files.size === 1 && (await complaintsOf(settings, compiled, uncached)).length === 0;
    return { folder: code, isOld, isShareable };
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

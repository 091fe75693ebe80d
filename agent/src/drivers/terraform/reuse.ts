/**
 * When `init` leaves the same as an earlier one, and what it leaves: all modules are folders of the code, all
 * providers are pinned by its lock file, and the state is in the service's own backend.
 *
 * `init` then starts no program of the code: it loads files, and asks no registry about what is pinned. OpenTofu
 * would run a program that a key provider of an `encryption` block names, so code with that word is left out.
 *
 * Values of input variables are not a part of the inputs. `init` of OpenTofu, and of terraform from 1.15 on, reads them in
 * the source and version of modules, OpenTofu also in a backend, an `encryption` block and a `for_each` of providers.
 * Nothing is stored for code with a computed source or an `encryption` block, the backend is overridden, and a version
 * or a `for_each` changes nothing that `init` leaves for folders of the code; the plan repeats an error in them.
 */
import { posix } from 'node:path';
import { lt } from 'semver';
import { normalizePath } from '#guards/source-guards.ts';
import { runEnvironment } from '#protocol/run-environment.ts';
import { runVariableNames } from '#protocol/tools/inputs/run-variables.ts';
import { splitArguments } from '#protocol/tools/inputs/terraform-arguments.ts';
import { ownPlatform } from '../../own/own-platform.ts';
import type { Installed, InstalledFrom, InstalledPackage, TreeReader } from '../interface/capabilities.ts';
import type { Command } from '../interface/command.ts';
import type { DriverContext, ReuseCapability } from '../interface/driver.ts';
import { configurationFiles, isVariablesFile } from './code/files.ts';
import { hasComputedSource, hashInitInputs } from './code/init-inputs.ts';
import { type Flavor, workspaceOf } from './commands.ts';
import { lockFileName } from './lock-file.ts';
import { lockedProviders, modulesFileName } from './versions.ts';

const folder = '.terraform';
/** The backend, and the workspace that init selects if there is only one; `TF_WORKSPACE` takes precedence. */
const plainFiles = ['terraform.tfstate', 'environment'];
const maxStateBytes = 20_000_000;
const maxCodeFiles = 2_000;

/** Variables of the tools that have no other effect on init than their value. */
const usualVariable =
  /^TF_(VAR_.*|TOKEN_.*|CLI_ARGS|CLI_ARGS_[a-z]+|IN_AUTOMATION|INPUT|REGISTRY_.*|STATE_PERSIST_INTERVAL)$/;
/** Arguments of the same kind. */
const usualArgument = /^--?(no-color|input=\w+|lock=\w+|lock-timeout=\w+|var=[^]*|var-file=(?!\/)[^]*)$/;
/** A source in JSON that may not be a constant text. */
const computedSource = /"source"\s*:(?!\s*"[^"\\$%\n]*")/;

function argumentsOf({ job }: DriverContext, { environment = {} }: Command): string[] {
  const all: Readonly<Record<string, string>> = { ...runEnvironment(job), ...environment };
  return ['TF_CLI_ARGS', 'TF_CLI_ARGS_init'].flatMap((name) => splitArguments(all[name] ?? ''));
}

/** The source addresses of the providers in a state, which init installs too; null if they cannot be known. */
function providersIn(state: Uint8Array): string[] | null {
  if (state.length > maxStateBytes) return null;
  const { version, resources } = JSON.parse(new TextDecoder().decode(state)) as {
    version?: number;
    resources?: readonly { readonly provider: string }[] | null;
  };
  if (version !== 4) return null;
  const names = (resources ?? []).map(({ provider }) => /provider\["([^"]+)"\]/.exec(provider)?.[1] ?? null);
  const known = names.filter((name) => name !== null);
  return known.length < names.length ? null : [...new Set(known)].sort();
}

function inputs(
  context: DriverContext,
  command: Command,
  state: Uint8Array | null,
): Record<string, unknown> | null {
  const { job, stateFolder } = context;
  if (stateFolder === null) return null;
  const names = Object.keys({ ...runEnvironment(job), ...command.environment });
  if (names.some((name) => /^(TF|TOFU)_/.test(name) && !usualVariable.test(name))) return null;
  if (argumentsOf(context, command).some((word) => !usualArgument.test(word))) return null;
  const providers = state === null ? [] : providersIn(state);
  if (providers === null) return null;
  const variables = job.variables.terraform.map(({ name }) => name).sort();
  // A workspace without a state has init note the only other one.
  return { providers, variables, hasState: state !== null, isDefault: workspaceOf(job) === 'default' };
}

/** The folders of all modules below the tree's root; null if init has fetched one of them. */
async function moduleFolders(tree: TreeReader, path: string): Promise<string[] | null> {
  const text = await tree.text(modulesFileName);
  if (text === null) return [path];
  const { Modules: modules } = JSON.parse(text) as {
    Modules: readonly { readonly Source: string; readonly Dir: string }[];
  };
  const isOfCode = ({ Source: source, Dir: dir }: (typeof modules)[number]) =>
    /^(\.\.?\/.*)?$/.test(source) && !dir.split('/').includes(folder);
  if (!modules.every(isOfCode)) return null;
  const folders = modules.map(({ Dir: dir }) => posix.join(path, dir).replace(/^\.$/, ''));
  return [...new Set([path, ...folders])];
}

/** Whether `init` may evaluate an expression of a file of the code. @throws if the file is not HCL */
function mayBeEvaluated({ readsVariablesEarly }: Flavor, name: string, text: string): boolean {
  if (isVariablesFile(name)) return false;
  if (name.endsWith('.json'))
    // An escape may spell any name.
    return (
      text.includes('\\u') ||
      computedSource.test(text) ||
      (readsVariablesEarly && text.includes('"encryption"'))
    );
  // Nothing but the word decides: the program of a key provider could change what is stored.
  return (readsVariablesEarly && /\bencryption\b/.test(text)) || hasComputedSource(text);
}

/** @throws if one of the files is outside of the tree: it may change without the code */
async function hasConstantSources(
  flavor: Flavor,
  toolVersion: string | undefined,
  code: TreeReader,
  files: readonly string[],
): Promise<boolean> {
  if (files.length > maxCodeFiles) return false;
  // Read in any case: a file outside of the tree is refused.
  const texts = await Promise.all(files.map(async (name) => [name, await code.text(name)] as const));
  const evaluatesSources = toolVersion === undefined || !lt(toolVersion, flavor.evaluatesSourcesFrom);
  // A file without a text has a name that is not UTF-8: the tool reads it.
  return (
    !evaluatesSources || !texts.some(([name, text]) => text === null || mayBeEvaluated(flavor, name, text))
  );
}

async function codeFilesIn(flavor: Flavor, code: TreeReader, within: string): Promise<string[]> {
  const names = await code.list(within);
  const loaded = [
    ...configurationFiles(names, flavor.fileRules),
    ...names.filter((name) => isVariablesFile(name)),
  ];
  return loaded.map((name) => posix.join(within, name));
}

/** The packages below `.terraform/providers`; null if something else is there. */
async function packagesIn(tree: TreeReader): Promise<InstalledPackage[] | null> {
  const providers = `${folder}/providers`;
  let paths: string[][] = [[]];
  for (let level = 0; level < 5; level += 1) {
    const below = await Promise.all(
      paths.map(async (parts) =>
        (await tree.list(posix.join(providers, ...parts))).map((name) => [...parts, name]),
      ),
    );
    paths = below.flat();
    if (paths.length > 100) return null;
  }
  const found = paths.map((parts) => {
    const [host = '', namespace = '', type = '', version = '', platform = ''] = parts;
    return { host, namespace, type, version, platform, path: posix.join(providers, ...parts) };
  });
  return found.every(({ platform }) => platform === ownPlatform) ? found : null;
}

/** Whether a lock file pinned exactly these packages and still does. */
function arePinned(packages: readonly InstalledPackage[], locks: readonly (string | null)[]): boolean {
  const linked = packages.map(
    ({ host, namespace, type, version }) => `${host}/${namespace}/${type} ${version}`,
  );
  return locks.every((lock) => {
    const pinned = Object.entries(lockedProviders(lock)).map(([source, version]) => `${source} ${version}`);
    return pinned.length === linked.length && linked.every((name) => pinned.includes(name));
  });
}

async function read(
  flavor: Flavor,
  context: DriverContext,
  command: Command,
  { code, lockFile: lockBefore }: InstalledFrom,
): Promise<Installed | null> {
  const { job, tree } = context;
  const names = await tree.list(folder);
  if (names.some((name) => ![...plainFiles, 'modules', 'providers'].includes(name))) return null;
  if ((await listIn(tree, names, 'modules')).some((name) => name !== 'modules.json')) return null;
  const path = normalizePath(job.source.path ?? '');
  const folders = await moduleFolders(tree, path);
  if (folders === null) return null;
  const codeFiles = await Promise.all(folders.map((within) => codeFilesIn(flavor, code, within)));
  const variableFiles = argumentsOf(context, command).flatMap(
    (word) => /^--?var-file=([^]+)$/.exec(word)?.[1] ?? [],
  );
  const files = [...codeFiles.flat(), ...variableFiles.map((name) => posix.join(path, name))];
  if (!(await hasConstantSources(flavor, context.toolVersion, code, files))) return null;
  const packages = names.includes('providers') ? await packagesIn(tree) : [];
  const lock = await tree.text(lockFileName);
  if (packages === null || !arePinned(packages, [lockBefore, lock])) return null;
  const left = [...plainFiles.map((name) => `${folder}/${name}`), modulesFileName];
  const contents = await Promise.all(left.map(async (name) => [name, await tree.text(name)] as const));
  const made = contents.filter((entry): entry is [string, string] => entry[1] !== null);
  return {
    files: {
      ...Object.fromEntries(made),
      ...(lock === null || lock === lockBefore ? {} : { [lockFileName]: lock }),
    },
    packages,
    folders,
  };
}

async function listIn(tree: TreeReader, names: readonly string[], name: string): Promise<string[]> {
  return names.includes(name) ? tree.list(`${folder}/${name}`) : [];
}

/** Facts that the runner needs to use the result of an earlier init. */
export function reuseOf(flavor: Flavor): ReuseCapability {
  return {
    folder,
    variable: runVariableNames.reusesInit,
    ignoredVariables: ['TF_WORKSPACE', 'TF_CLI_CONFIG_FILE'],
    isInputVariable: (name) => name.startsWith('TF_VAR_'),
    inputs,
    read: (context, command, from) => read(flavor, context, command, from),
    hashOf: hashInitInputs,
  };
}

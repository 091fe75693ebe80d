/**
 * Determines where the state is stored, and writes the override for states that the service stores: a local
 * backend with relative paths, because a saved plan records them, in a file that terraform reads after all
 * other overrides.
 */
import { join, relative } from 'node:path';
import { recordOf } from '#contract/schema/is-record.ts';
import type { TreeReader } from '../interface/capabilities.ts';
import type { FileToWrite } from '../interface/driver.ts';
import { byBytes, endingOf, type FileRules, isOverride, terraformFiles } from './code/files.ts';
import { readConfiguration } from './code/read-configuration.ts';

const stateName = 'terraform.tfstate';
/** File in which `init` records the backend that it has set up. */
const initRecord = `.terraform/${stateName}`;
const ourOverride = 'envarium_override';

/** The backend that the code configures. */
export interface CodeBackend {
  readonly kind: 'none' | 'cloud' | 'backend';
  /** The backend's type: `cloud` for a cloud block, `local` if the code configures none. */
  readonly type: string;
  /** False for backends with a single state: `http`, and remote ones that name their workspace. */
  readonly hasWorkspaces: boolean;
}

export const noBackend: CodeBackend = { kind: 'none', type: 'local', hasWorkspaces: true };

function first(value: unknown): unknown {
  return Array.isArray(value) ? value[0] : value;
}

function all(value: unknown): Record<string, unknown>[] {
  const values = Array.isArray(value) ? value : [value];
  return values.filter((entry) => typeof entry === 'object' && entry !== null);
}

function namesItsWorkspace(config: unknown): boolean {
  const workspaces = all(first(config)).flatMap((block) => all(block['workspaces']));
  return workspaces.some((block) => typeof block['name'] === 'string');
}

function backendOf(body: Record<string, unknown>): CodeBackend | null {
  let found: CodeBackend | null = null;
  for (const block of all(body['terraform'])) {
    for (const [type, config] of all(block['backend']).flatMap((backend) => Object.entries(backend))) {
      found = {
        kind: 'backend',
        type,
        hasWorkspaces: type !== 'http' && !(type === 'remote' && namesItsWorkspace(config)),
      };
    }
    if ('cloud' in block)
      found = { kind: 'cloud', type: 'cloud', hasWorkspaces: !namesItsWorkspace(block['cloud']) };
  }
  return found;
}

function mayNameBackend(text: string): boolean {
  return /\bterraform\b/.test(text) && /\b(backend|cloud)\b/.test(text);
}

/**
 * Finds the backend that the root module configures, including overrides. Files without the keywords of a
 * backend are not parsed.
 * @throws an Error with a message for people if a file cannot be parsed
 */
export async function readCodeBackend(
  tree: TreeReader,
  rules: FileRules = terraformFiles,
): Promise<CodeBackend> {
  const files = await readConfiguration(tree, rules, mayNameBackend);
  return files.reduce((backend, { body }) => backendOf(recordOf(body)) ?? backend, noBackend);
}

/** The service stores every state that no remote backend of the code stores. */
export function isOurs(backend: CodeBackend): boolean {
  return backend.type === 'local';
}

/** The name of our override where `last` sorts after all others. */
function nameAfter(last: string | undefined, rules: FileRules): string {
  const ending = `${ourOverride}${rules.overrideEnding}`;
  const usual = `zzz_${ending}`;
  if (last === undefined || byBytes(last, usual) < 0) return usual;
  // `~` sorts after the `.` of the other name's extension.
  return `${last.slice(0, -endingOf(last, rules).length)}~_${ending}`;
}

/**
 * A name that sorts after all other override files. Determined again in the apply phase, whose tree contains
 * the plan phase's override: a last file with the name that follows from the others is ours, or is replaced.
 */
export function overrideName(names: readonly string[], rules: FileRules): string {
  const [last, previous] = names
    .filter((name) => isOverride(name, rules))
    .sort(byBytes)
    .reverse();
  const ours = nameAfter(previous, rules);
  return last === ours ? ours : nameAfter(last, rules);
}

function backendPaths(
  configurationFolder: string,
  stateFolder: string,
): { path: string; workspace_dir: string } {
  const folder = relative(configurationFolder, stateFolder);
  return { path: join(folder, stateName), workspace_dir: folder };
}

/** The path of the state below the state folder; the workspace `default` ignores `workspace_dir`. */
export function stateFileName(workspaceName: string): string {
  return workspaceName === 'default' ? stateName : `${workspaceName}/${stateName}`;
}

/**
 * The files that put the state into `stateFolder`. If the repository contains a state or an init record, init
 * would request a migration; therefore it gets a record of the backend of the override.
 * @param names the entries of the configuration's folder
 */
export function stateOverrideFiles(
  names: readonly string[],
  configurationFolder: string,
  stateFolder: string,
  rules: FileRules = terraformFiles,
): FileToWrite[] {
  const config = backendPaths(configurationFolder, stateFolder);
  const override = { terraform: { backend: { local: config } } };
  const files: FileToWrite[] = [
    { name: overrideName(names, rules), content: `${JSON.stringify(override, null, 2)}\n`, isSecret: false },
  ];
  if (names.some((name) => ['.terraform', stateName, `${stateName}.d`].includes(name))) {
    const record = { version: 3, terraform_version: '1.0.0', backend: { type: 'local', config, hash: 0 } };
    files.push({ name: initRecord, content: `${JSON.stringify(record)}\n`, isSecret: false });
  }
  return files;
}

/**
 * Compares init's own record with the override.
 * @returns what is wrong and how to correct it; null if the state will be in the right place
 */
export async function stateOverrideProblem(
  tree: TreeReader,
  configurationFolder: string,
  stateFolder: string,
): Promise<string | null> {
  const text = await tree.text(initRecord);
  const expected = backendPaths(configurationFolder, stateFolder);
  try {
    const { backend } = JSON.parse(text ?? '') as {
      backend?: { type?: string; hash?: number; config?: Record<string, unknown> };
    };
    const { type, hash, config } = backend ?? {};
    if (
      type === 'local' &&
      hash !== 0 &&
      config?.['path'] === expected.path &&
      config['workspace_dir'] === expected.workspace_dir
    )
      return null;
  } catch {
    // A missing record and an incomplete one are the same problem.
  }
  return 'The state would not be stored: init has set up a different backend from the one that this environment needs. Remove -backend, -backend-config and -migrate-state from TF_CLI_ARGS and TF_CLI_ARGS_init, and any .terraform folder and any override file named like …~_envarium_override from the repository';
}

/**
 * Paths of built tools: `<toolbox>/<name>/<hash of what they are built from>/<version of Go>/<program>`. The
 * only part of the toolbox that tests of other rooms import.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';

import { type Recipe, recipes, type ToolName, toolNames } from './recipes.ts';

/** The folder that holds a tool's go.mod and go.sum. */
export function recipeFolder(name: ToolName): string {
  return join(import.meta.dirname, name);
}

/**
 * The folder of all built tools: `TOOLBOX_DIR`, otherwise one in the user's cache. For root it is in a place
 * where other users may execute its files, because runs of an agent started by root have their own users.
 */
export function toolboxFolder(): string {
  if (process.env.TOOLBOX_DIR) return process.env.TOOLBOX_DIR;
  if (process.getuid?.() === 0) return '/var/cache/envarium-toolbox';
  return join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'envarium-toolbox');
}

/** Go's arguments before the output and the package; part of what a built tool is known by. */
export function buildFlags({ linkerFlags, tags = [] }: Recipe): string[] {
  return [
    ...['build', '-trimpath', '-buildvcs=false', `-ldflags=${['-s', '-w', ...linkerFlags].join(' ')}`],
    ...(tags.length === 0 ? [] : [`-tags=${tags.join(',')}`]),
  ];
}

/** The folder of a tool that is built from today's recipe, by any version of Go. */
export function toolFolder(name: ToolName): string {
  const hash = createHash('sha256');
  const { sources = [] }: Recipe = recipes[name];
  for (const file of ['go.mod', 'go.sum', ...sources])
    hash.update(readFileSync(join(recipeFolder(name), file))).update('\0');
  hash.update(JSON.stringify([recipes[name].package, buildFlags(recipes[name])]));
  return join(toolboxFolder(), name, hash.digest('hex').slice(0, 16));
}

/**
 * The absolute path of a built tool, null if it was not built.
 * @throws Error in a test that the runner of tests does not expect to need it
 */
export function toolboxProgram(name: ToolName): string | null {
  assertExpected(name);
  const folder = toolFolder(name);
  const builds = existsSync(folder) ? readdirSync(folder).filter((entry) => !entry.includes('.partial')) : [];
  const programs = builds.toSorted().map((build) => join(folder, build, recipes[name].program));
  return programs.findLast((program) => existsSync(program)) ?? null;
}

/**
 * Options of a test that runs tools of the toolbox: skipped, with how to get them, where they are missing.
 * @throws Error where `TOOLBOX_REQUIRED` is set, as `.ci/run` does: there a missing tool is a failure
 */
export function withToolbox(...names: readonly ToolboxName[]): { skip: string | false } {
  const missing = names.filter((name) => placeOf(name) === null);
  if (missing.length === 0) return { skip: false };
  const languages = new Set(missing.map((name) => (isPythonTool(name) ? 'Python' : 'Go')));
  const install = `install ${[...languages].join(' and ')}, then "npm run toolbox -- ${missing.join(' ')}"`;
  return skipUnlessRequired(`needs ${missing.join(' and ')}: ${install}`);
}

/** The absolute path of a tool's first program, null where it is missing. */
export function placeOf(name: ToolboxName): string | null {
  return isPythonTool(name) ? pythonProgram(name) : toolboxProgram(name);
}

/**
 * Options of a test that lacks something of this machine.
 * @param reason what it needs and how to get it, after "This test"
 * @throws Error where `TOOLBOX_REQUIRED` is set
 */
export function skipUnlessRequired(reason: string): { skip: string } {
  if (process.env.TOOLBOX_REQUIRED)
    throw new Error(`This test ${reason}. It is not skipped where TOOLBOX_REQUIRED is set.`);
  return { skip: reason };
}

/**
 * Programs of PyPI, by tool: a server of the S3 protocol, a fuzzer of HTTP interfaces, and Ansible. What each
 * consists of is pinned with hashes, in the folder named after it.
 */
export const pythonPrograms = {
  moto: ['moto_server'],
  schemathesis: ['schemathesis'],
  ansible: ['ansible-playbook', 'ansible-galaxy', 'ansible'],
} as const;

export type PythonToolName = keyof typeof pythonPrograms;
/** Contents of the toolbox. */
export type ToolboxName = ToolName | PythonToolName;

/** Everything in the toolbox. */
export const allToolNames: readonly ToolboxName[] = [
  ...toolNames,
  ...(Object.keys(pythonPrograms) as PythonToolName[]),
];

/** Set by the runner for each test file: the tools that it may use, as JSON (`tools/suite/needed-tools.ts`). */
export const expectedToolsVariable = 'TEST_TOOLS';

/** A test that used a tool without notice could run before the tool is built. */
function assertExpected(name: ToolboxName): void {
  const expected = process.env[expectedToolsVariable];
  if (expected === undefined || (JSON.parse(expected) as string[]).includes(name)) return;
  throw new Error(
    `This test uses ${name}, but no file that it imports has this name as a literal next to an import of tools/toolbox/places.ts.`,
  );
}

export function isPythonTool(name: string): name is PythonToolName {
  return Object.hasOwn(pythonPrograms, name);
}

export function pythonRequirements(name: PythonToolName): string {
  return join(import.meta.dirname, name, 'requirements.txt');
}

/** The folder of a tool that is installed from today's list. */
export function pythonFolder(name: PythonToolName): string {
  const hash = createHash('sha256')
    .update(readFileSync(pythonRequirements(name)))
    .digest('hex')
    .slice(0, 16);
  return join(toolboxFolder(), name, hash);
}

/**
 * The absolute path of a program of PyPI, null if it was not installed.
 * @param program one of the tool's, its first unless specified
 * @throws Error in a test that the runner of tests does not expect to need it
 */
export function pythonProgram<Name extends PythonToolName>(
  name: Name,
  program: (typeof pythonPrograms)[Name][number] = pythonPrograms[name][0],
): string | null {
  assertExpected(name);
  const folder = pythonFolder(name);
  return existsSync(join(folder, '.complete')) ? join(folder, 'bin', program) : null;
}

/** A PATH on which these built programs are found, too, before others of their names. */
export function pathWith(...programs: readonly (string | null)[]): string {
  const folders = programs.flatMap((program) => (program === null ? [] : [dirname(program)]));
  return [...folders, process.env.PATH ?? ''].join(delimiter);
}

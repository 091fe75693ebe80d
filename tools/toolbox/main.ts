/**
 * `npm run toolbox [-- name …]`: builds or installs the real tools that tests run, as far as they are
 * missing.
 *
 *   (nothing)   all
 *   name …      these
 *   --paths     prints where they are and builds nothing
 */
import { buildTool, goVersion, ToolboxError } from './build.ts';
import { isPythonTool, placeOf, pythonPrograms, type ToolboxName } from './places.ts';
import { installPythonTool } from './python-tools.ts';
import { toolNames } from './recipes.ts';

const all: readonly ToolboxName[] = [...toolNames, ...Object.keys(pythonPrograms).filter(isPythonTool)];

const words = process.argv.slice(2);
const wanted = words.filter((word) => word !== '--paths');
const unknown = wanted.filter((word) => !all.some((name) => name === word));
const names = wanted.length === 0 ? all : all.filter((name) => wanted.includes(name));
let version: Promise<string> | undefined;

if (unknown.length > 0) {
  console.error(`There is no tool ${unknown.join(', ')} in the toolbox. It has ${all.join(', ')}.`);
  process.exitCode = 2;
} else if (words.includes('--paths')) {
  for (const name of names) console.log(`${name}\t${placeOf(name) ?? 'not built'}`);
} else {
  await makeAll();
}

async function make(name: ToolboxName): Promise<{ program: string; isNew: boolean }> {
  return isPythonTool(name)
    ? installPythonTool(name, console.log)
    : buildTool(name, await (version ??= goVersion()), console.log);
}

/** @returns whether the tool is there now */
async function report(name: ToolboxName): Promise<boolean> {
  const started = performance.now();
  try {
    const { program, isNew } = await make(name);
    const took = isNew ? ` (built in ${((performance.now() - started) / 1000).toFixed(0)} s)` : '';
    console.log(`✔ ${name}: ${program}${took}`);
    return true;
  } catch (error) {
    if (!(error instanceof ToolboxError)) throw error;
    console.error(error.message);
    return false;
  }
}

/** One after the other, until one fails. */
async function makeEach(some: readonly ToolboxName[]): Promise<void> {
  for (const name of some) if (!(await report(name))) return void (process.exitCode = 1);
}

/** Programs of PyPI are waited for while Go keeps the processors busy. */
async function makeAll(): Promise<void> {
  await Promise.all([
    makeEach(names.filter((name) => !isPythonTool(name))),
    makeEach(names.filter((name) => isPythonTool(name))),
  ]);
}

/**
 * `npm run toolbox [-- name …]`: builds or installs the real tools that tests run, as far as they are
 * missing.
 *
 *   (nothing)   all
 *   name …      these
 *   --paths     prints where they are and builds nothing
 */
import { buildTool, goVersion, ToolboxError } from './build.ts';
import { pythonProgram, pythonPrograms, type PythonToolName, toolboxProgram } from './places.ts';
import { installPythonTool } from './python-tools.ts';
import { type ToolName, toolNames } from './recipes.ts';

const all: readonly string[] = [...toolNames, ...Object.keys(pythonPrograms)];

const words = process.argv.slice(2);
const wanted = words.filter((word) => word !== '--paths');
const unknown = wanted.filter((word) => !all.includes(word));
const names = wanted.length === 0 ? all : wanted;

if (unknown.length > 0) {
  console.error(`There is no tool ${unknown.join(', ')} in the toolbox. It has ${all.join(', ')}.`);
  process.exitCode = 2;
} else if (words.includes('--paths')) {
  for (const name of names) console.log(`${name}\t${placeOf(name) ?? 'not built'}`);
} else {
  await buildAll();
}

function isPython(name: string): name is PythonToolName {
  return Object.hasOwn(pythonPrograms, name);
}

function placeOf(name: string): string | null {
  return isPython(name) ? pythonProgram(name) : toolboxProgram(name as ToolName);
}

async function make(name: string): Promise<{ program: string; isNew: boolean }> {
  return isPython(name)
    ? installPythonTool(name, console.log)
    : buildTool(name as ToolName, await goVersion(), console.log);
}

async function buildAll(): Promise<void> {
  try {
    for (const name of names) {
      const started = performance.now();
      const { program, isNew } = await make(name);
      const took = isNew ? ` (built in ${((performance.now() - started) / 1000).toFixed(0)} s)` : '';
      console.log(`✔ ${name}: ${program}${took}`);
    }
  } catch (error) {
    if (!(error instanceof ToolboxError)) throw error;
    console.error(error.message);
    process.exitCode = 1;
  }
}

/**
 * `npm run toolbox [-- name …]`: builds or installs the real tools that tests run, as far as they are
 * missing.
 *
 *   (nothing)   all
 *   name …      these
 *   --paths     prints where they are and builds nothing
 */
import { makeTool } from './make-tool.ts';
import { allToolNames, isPythonTool, placeOf, type ToolboxName } from './places.ts';

const words = process.argv.slice(2);
const wanted = words.filter((word) => word !== '--paths');
const unknown = wanted.filter((word) => !allToolNames.some((name) => name === word));
const names = wanted.length === 0 ? allToolNames : allToolNames.filter((name) => wanted.includes(name));

if (unknown.length > 0) {
  console.error(`There is no tool ${unknown.join(', ')} in the toolbox. It has ${allToolNames.join(', ')}.`);
  process.exitCode = 2;
} else if (words.includes('--paths')) {
  for (const name of names) console.log(`${name}\t${placeOf(name) ?? 'not built'}`);
} else {
  await makeAll();
}

/** One after the other, until one fails. */
async function makeEach(some: readonly ToolboxName[]): Promise<void> {
  for (const name of some) if (!(await makeTool(name, console))) return void (process.exitCode = 1);
}

/** Programs of PyPI are waited for while Go keeps the processors busy. */
async function makeAll(): Promise<void> {
  await Promise.all([
    makeEach(names.filter((name) => !isPythonTool(name))),
    makeEach(names.filter((name) => isPythonTool(name))),
  ]);
}

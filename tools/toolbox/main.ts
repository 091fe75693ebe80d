/**
 * `npm run toolbox [-- name …]`: builds the real tools that tests run, as far as they are missing.
 *
 *   (nothing)   all
 *   name …      these
 *   --paths     prints where they are and builds nothing
 */
import { buildTool, goVersion, ToolboxError } from './build.ts';
import { toolboxProgram } from './places.ts';
import { type ToolName, toolNames } from './recipes.ts';

const words = process.argv.slice(2);
const wanted = words.filter((word) => word !== '--paths');
const unknown = wanted.filter((word) => !(toolNames as readonly string[]).includes(word));
const names = wanted.length === 0 ? toolNames : (wanted as ToolName[]);

if (unknown.length > 0) {
  console.error(`There is no tool ${unknown.join(', ')} in the toolbox. It has ${toolNames.join(', ')}.`);
  process.exitCode = 2;
} else if (words.includes('--paths')) {
  for (const name of names) console.log(`${name}\t${toolboxProgram(name) ?? 'not built'}`);
} else {
  await buildAll();
}

async function buildAll(): Promise<void> {
  try {
    const version = await goVersion();
    for (const name of names) {
      const started = performance.now();
      const { program, isNew } = await buildTool(name, version, console.log);
      const took = isNew ? ` (built in ${((performance.now() - started) / 1000).toFixed(0)} s)` : '';
      console.log(`✔ ${name}: ${program}${took}`);
    }
  } catch (error) {
    if (!(error instanceof ToolboxError)) throw error;
    console.error(error.message);
    process.exitCode = 1;
  }
}

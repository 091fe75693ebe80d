/**
 * The programs as `npm start`, `npm run agent` and `envarium` run them: bundled from the sources, which takes
 * about a second, and kept in `.cache/programs` until the sources change. A bundle needs a fraction of the time and
 * memory of its hundreds of modules. Plain JavaScript like the launcher, which calls it.
 */
import { accessSync, constants } from 'node:fs';
import { join, resolve } from 'node:path';
import { ensureBuilt, stateOf } from './kept-build.mjs';

/** Programs, and the threads that they start, by the name of their file in a bundle. */
export const entries = {
  server: 'server/src/main.ts',
  agent: 'agent/src/main.ts',
  envarium: 'cli/src/main.ts',
  'state-thread': 'server/src/runs/state/files/state-thread.ts',
  'hcl-thread': 'guards/src/hcl/hcl-thread.ts',
  'discovery-file-thread': 'server/src/automation/discovery/discovery-file/discovery-file-thread.ts',
  'match-thread': 'server/src/automation/discovery/matching/match-thread.ts',
  'yaml-thread': 'server/src/code/repositories/variables/yaml-thread.ts',
};
const programs = ['server', 'agent', 'envarium'];
const rooms = ['agent', 'cli', 'clouds', 'contract', 'guards', 'protocol', 'server', 'settings'];
const builder = 'tools/programs/build-programs.mjs';
const sources = {
  files: [
    'package.json',
    'package-lock.json',
    'tools/programs/program-of.mjs',
    'tools/programs/bundle-plugins.mjs',
    builder,
  ],
  folders: rooms.map((room) => `${room}/src`),
};

/**
 * The file to run for an entry: its program in an up-to-date bundle, which is built first if necessary.
 * @param {string} root the checkout
 * @param {string} entry absolute
 * @param {(line: string) => void} report receives one line per build, and one if the sources are used instead
 * @param {string} node that runs the bundle, and therefore builds it: a bundle knows the names in its modules
 * @returns {Promise<string>} absolute; the entry itself if it does not have a program, or none can be built
 */
export async function programOf(root, entry, report, node = process.execPath) {
  const name = programs.find((each) => resolve(root, entries[each]) === entry);
  if (name === undefined) return entry;
  const folder = join(root, '.cache', 'programs', stateOf(root, sources));
  try {
    await ensureBuilt(folder, { root, builder, node, what: 'programs', report });
    const program = join(folder, `${name}.mjs`);
    accessSync(program, constants.R_OK);
    return program;
  } catch (error) {
    report(`The sources run without a bundle, with more time and memory: ${error.message}`);
    return entry;
  }
}

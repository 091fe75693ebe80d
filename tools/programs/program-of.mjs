/**
 * The programs as `npm start`, `npm run agent` and `envarium` run them: bundled from the sources, which takes
 * about a second, and kept in `.cache/programs` until the sources change. A bundle needs a fraction of the time and
 * memory of its hundreds of modules. Plain JavaScript like the launcher, which calls it.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/** Programs, and the threads that they start, by the name of their file in a bundle. */
export const entries = {
  server: 'server/src/main.ts',
  agent: 'agent/src/main.ts',
  envarium: 'cli/src/main.ts',
  'state-thread': 'server/src/state/files/state-thread.ts',
  'hcl-thread': 'guards/src/hcl/hcl-thread.ts',
  'yaml-thread': 'server/src/repositories/variables/yaml-thread.ts',
};
const programs = ['server', 'agent', 'envarium'];
const rooms = ['agent', 'cli', 'contract', 'guards', 'protocol', 'server', 'settings'];
const builder = 'tools/programs/build-programs.mjs';
const unusedMilliseconds = 24 * 60 * 60 * 1000;

/**
 * The file to run for an entry: its program in an up-to-date bundle, which is built first if necessary.
 * @param {string} root the checkout
 * @param {string} entry absolute
 * @param {(line: string) => void} report receives one line per build, and one if the sources are used instead
 * @param {string} node that runs the bundle, and therefore builds it: a bundle knows the names in its modules
 * @returns {string} absolute; the entry itself if it does not have a program, or none can be built
 */
export function programOf(root, entry, report, node = process.execPath) {
  const name = programs.find((each) => resolve(root, entries[each]) === entry);
  if (name === undefined) return entry;
  const folder = join(root, '.cache', 'programs', stateOfSources(root));
  try {
    if (!existsSync(folder)) makeBundle(root, folder, report, node);
    const program = join(folder, `${name}.mjs`);
    accessSync(program, constants.R_OK);
    return program;
  } catch (error) {
    report(`The sources run without a bundle, with more time and memory: ${error.message}`);
    return entry;
  }
}

/** Changes with every source file, the packages and the builder. Tests are not part of any program. */
function stateOfSources(root) {
  const hash = createHash('sha256');
  const add = (path) => {
    const { size, mtimeMs } = statSync(join(root, path), { throwIfNoEntry: false }) ?? {};
    hash.update(`${path}\0${size}\0${mtimeMs}\n`);
  };
  const visit = (folder) => {
    for (const found of readdirSync(join(root, folder), { withFileTypes: true })) {
      const path = `${folder}/${found.name}`;
      if (found.isDirectory()) visit(path);
      else if (!found.name.endsWith('.test.ts')) add(path);
    }
  };
  for (const path of ['package.json', 'package-lock.json', 'tools/programs/program-of.mjs', builder])
    add(path);
  for (const room of rooms) if (existsSync(join(root, room, 'src'))) visit(`${room}/src`);
  return hash.digest('hex').slice(0, 16);
}

/** Several launches may build at once: the first one that finishes is used. */
function makeBundle(root, folder, report, node) {
  const began = Date.now();
  const parent = dirname(folder);
  mkdirSync(parent, { recursive: true });
  const unfinished = mkdtempSync(join(parent, 'unfinished-'));
  try {
    build(root, unfinished, node);
    // For other users of the checkout, and for processes that have given up their rights.
    chmodSync(unfinished, 0o755);
    renameSync(unfinished, folder);
    report(`Building the programs: done after ${((Date.now() - began) / 1000).toFixed(1)} s.`);
  } catch (error) {
    if (!existsSync(folder)) throw error;
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
  removeUnused(folder);
}

/** In a process of its own: the bundler starts another one, which must not outlive the launch. */
function build(root, folder, node) {
  const { status, stderr, error } = spawnSync(node, [join(root, builder), root, folder], {
    stdio: ['ignore', 'ignore', 'pipe'],
    encoding: 'utf8',
  });
  if (error) throw error;
  if (status !== 0)
    throw new Error(stderr.split('\n').find((line) => line.includes('rror')) ?? 'it was ended');
}

/** Bundles of earlier sources are kept for a day, and for as long as a process runs them. */
function removeUnused(folder) {
  const parent = dirname(folder);
  const commandLines = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => readText(`/proc/${pid}/cmdline`));
  for (const name of readdirSync(parent)) {
    const path = join(parent, name);
    if (path === folder || commandLines.some((line) => line.includes(path))) continue;
    const { mtimeMs } = statSync(path, { throwIfNoEntry: false }) ?? { mtimeMs: Date.now() };
    if (Date.now() - mtimeMs > unusedMilliseconds) rmSync(path, { recursive: true, force: true });
  }
}

function readText(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

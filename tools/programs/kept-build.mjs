/**
 * Builds that are made from the sources on demand, and kept in a folder below `.cache` until the sources change.
 * Plain JavaScript like the launcher, which loads it.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

const unusedMilliseconds = 24 * 60 * 60 * 1000;

/**
 * The name of a state of sources, which differs when a file was added, changed or removed. Tests do not count.
 * @param {string} root the checkout
 * @param {{ files: readonly string[], folders: readonly string[] }} sources below the root; what is missing counts
 * as missing
 */
export function stateOf(root, { files, folders }) {
  const hash = createHash('sha256');
  const add = (path) => {
    const { size, mtimeMs } = statSync(join(root, path), { throwIfNoEntry: false }) ?? {};
    hash.update(`${path}\0${size}\0${mtimeMs}\n`);
  };
  const visit = (folder) => {
    for (const found of readdirSync(join(root, folder), { withFileTypes: true })) {
      const path = `${folder}/${found.name}`;
      if (found.isDirectory()) visit(path);
      else if (!/\.test\.tsx?$/.test(found.name)) add(path);
    }
  };
  for (const path of files) add(path);
  for (const folder of folders) if (existsSync(join(root, folder))) visit(folder);
  return hash.digest('hex').slice(0, 16);
}

/**
 * Fills a folder by a builder unless it exists. Several may build at once: the first one that finishes is used.
 * @param {string} folder absolute; unused folders next to it are removed after a build
 * @param {{ root: string, builder: string, node: string, what: string, report: (line: string) => void }} build
 * `builder`: script below the root, called with the root and an unfinished folder by this `node`; `what` is built,
 * as one line per build says
 * @throws {Error} with the first error of the builder
 */
export async function ensureBuilt(folder, { root, builder, node, what, report }) {
  if (existsSync(folder)) return;
  const began = Date.now();
  const parent = dirname(folder);
  mkdirSync(parent, { recursive: true });
  const unfinished = mkdtempSync(join(parent, 'unfinished-'));
  try {
    await run(node, [join(root, builder), root, unfinished]);
    // For other users of the checkout, and for processes that have dropped their rights.
    chmodSync(unfinished, 0o755);
    renameSync(unfinished, folder);
    report(`Building the ${what}: done after ${((Date.now() - began) / 1000).toFixed(1)} s.`);
  } catch (error) {
    if (!existsSync(folder)) throw error;
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
  removeUnused(folder);
}

/** In a process of its own: bundlers start others, which must not outlive the launch. */
async function run(node, args) {
  const child = spawn(node, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  const stop = () => child.kill();
  process.once('exit', stop);
  let text = '';
  child.stderr.setEncoding('utf8').on('data', (part) => {
    text += part;
  });
  try {
    const status = await new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    if (status !== 0) throw new Error(firstError(text));
  } finally {
    process.off('exit', stop);
  }
}

/** Of what a builder has written: not the line of the source that Node shows first. */
function firstError(text) {
  const lines = text.split('\n');
  return (
    lines.find((line) => /\w*Error: |\berror:/.test(line)) ??
    lines.find((line) => line !== '') ??
    'it was ended'
  );
}

/** Builds of earlier sources are kept for a day, and for as long as a process has them among its arguments or settings. */
function removeUnused(folder) {
  const parent = dirname(folder);
  const used = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => [readText(`/proc/${pid}/cmdline`), readText(`/proc/${pid}/environ`)]);
  for (const name of readdirSync(parent)) {
    const path = join(parent, name);
    if (path === folder || used.some((text) => text.includes(path))) continue;
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

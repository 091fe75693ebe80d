/**
 * Installs the packages of package-lock.json when node_modules differs from it. Plain JavaScript without
 * packages: it runs on any Node from 18 on, before anything is installed.
 */
import { spawn } from 'node:child_process';
import {
  accessSync,
  constants,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { constants as system } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';

/** A refusal that a person can act on: printed without a stack. */
export class LaunchError extends Error {}

const pollMilliseconds = 200;

/**
 * Whether node_modules holds what package-lock.json names.
 * @param {string} root the checkout
 * @param {{ withDev: boolean }} options `withDev`: packages for development are needed too
 * @returns {string | null} null when it does, else the reason in a few words
 */
export function installationGap(root, { withDev }) {
  const wanted = readJson(join(root, 'package-lock.json'))?.packages;
  if (!wanted)
    throw new LaunchError(
      `${join(root, 'package-lock.json')} is missing or does not parse: restore it from the repository.`,
    );
  const present = readJson(join(root, 'node_modules', '.package-lock.json'))?.packages;
  if (!present) return 'nothing is installed yet';
  for (const [path, entry] of Object.entries(wanted)) {
    if (path === '' || entry.link) continue;
    const found = present[path];
    if (!found && (entry.optional || entry.devOptional || (entry.dev && !withDev))) continue;
    if (!found) return `${path} is missing`;
    if (found.version !== entry.version || found.integrity !== entry.integrity)
      return `${path} is not version ${entry.version}`;
  }
  const surplus = Object.keys(present).find((path) => !(path in wanted));
  return surplus ? `${surplus} is no longer wanted` : null;
}

/**
 * Runs `npm ci` unless node_modules is complete. Several launches of one checkout wait for each other.
 * @param {string} root the checkout
 * @param {{ withDev: boolean }} options see `installationGap`
 * @throws {LaunchError} when npm, the network or the permission to write is missing
 */
export async function ensureInstalled(root, options) {
  if (!installationGap(root, options)) return;
  assertWritable(root, installationGap(root, options));
  const release = await lock(join(root, '.cache', 'install.lock'));
  try {
    if (installationGap(root, options)) await install(root);
  } finally {
    release();
  }
  const gap = installationGap(root, options);
  if (gap)
    throw new LaunchError(
      `npm ci ended well, yet ${gap}. Look at package-lock.json and at npm's settings (npm config list).`,
    );
}

function readJson(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return null;
  }
}

function assertWritable(root, gap) {
  for (const folder of [root, join(root, 'node_modules')]) {
    if (!existsSync(folder)) continue;
    try {
      accessSync(folder, constants.W_OK);
    } catch (cause) {
      throw new LaunchError(
        `The packages must be installed (${gap}), but ${folder} cannot be written by this user. Run "npm ci" there as its owner.`,
        { cause },
      );
    }
  }
}

async function install(root) {
  const done = announce('Installing packages');
  const { status, signal, output } = await runNpm(root, [
    'ci',
    '--ignore-scripts',
    '--include=dev',
    '--include=optional',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
    '--progress=false',
  ]);
  done(status === 0);
  if (signal) process.exit(128 + system.signals[signal]);
  if (status !== 0) throw new LaunchError(explain(output, status));
}

/**
 * One line that counts seconds on a terminal, two plain lines elsewhere; on stderr, so that stdout stays the
 * entry's.
 */
function announce(what) {
  const started = Date.now();
  const seconds = () => `${Math.round((Date.now() - started) / 1000)} s`;
  const isTerminal = process.stderr.isTTY;
  process.stderr.write(isTerminal ? `${what} …` : `${what} (npm ci) …\n`);
  const timer = isTerminal
    ? setInterval(() => process.stderr.write(`\r${what} … ${seconds()}`), 1000)
    : undefined;
  return (isGood) => {
    clearInterval(timer);
    process.stderr.write(
      `${isTerminal ? '\r' : ''}${what}: ${isGood ? 'done' : 'failed'} after ${seconds()}.\n`,
    );
  };
}

async function runNpm(root, args) {
  const npm = findNpm(root);
  if (!npm)
    throw new LaunchError(
      'npm was not found, neither next to Node nor on the PATH. Install npm 9 or later (it comes with Node from nodejs.org), then try again.',
    );
  // npm must not run the Node that it is about to replace.
  const path = (process.env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => !isBelow(folder, join(root, 'node_modules')))
    .join(delimiter);
  const child = spawn(npm.program, [...npm.args, ...args], {
    cwd: root,
    env: { ...process.env, PATH: path },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const chunks = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => chunks.push(chunk));
  const forget = passSignals(child);
  try {
    return await new Promise((good, bad) => {
      child.once('error', bad);
      child.once('close', (status, signal) =>
        good({ status, signal, output: Buffer.concat(chunks).toString('utf8') }),
      );
    });
  } catch (cause) {
    throw new LaunchError(`npm could not be started (${npm.program}): ${cause.message}`, { cause });
  } finally {
    forget();
  }
}

/**
 * Passes signals on to a child and keeps this process waiting for it.
 * On a terminal Ctrl-C reaches the whole foreground group already, so SIGINT is not sent a second time.
 * @param {import('node:child_process').ChildProcess} child
 * @returns {() => void} stops it
 */
export function passSignals(child) {
  const isOnTerminal = process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY;
  const handlers = ['SIGINT', 'SIGTERM', 'SIGHUP'].map((signal) => [
    signal,
    () => {
      if (signal !== 'SIGINT' || !isOnTerminal) child.kill(signal);
    },
  ]);
  for (const [signal, handler] of handlers) process.on(signal, handler);
  return () => {
    for (const [signal, handler] of handlers) process.off(signal, handler);
  };
}

/**
 * The npm that started us, or else the one next to our Node, or else the one on the PATH outside of the
 * checkout.
 */
export function findNpm(root) {
  const started = process.env.npm_execpath;
  if (started && /npm-cli\.c?js$/.test(started) && existsSync(started)) {
    const node = process.env.npm_node_execpath;
    return {
      program:
        node && existsSync(node) && !isBelow(node, join(root, 'node_modules')) ? node : process.execPath,
      args: [started],
    };
  }
  const prefix = resolve(dirname(process.execPath), '..');
  for (const folder of [
    join(prefix, 'lib', 'node_modules'),
    join(prefix, 'share', 'nodejs'),
    join(prefix, 'node_modules'),
  ]) {
    const script = join(folder, 'npm', 'bin', 'npm-cli.js');
    if (existsSync(script)) return { program: process.execPath, args: [script] };
  }
  const folders = (process.env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => folder !== '' && !isBelow(folder, join(root, 'node_modules')));
  const program = folders.map((folder) => join(folder, 'npm')).find((file) => existsSync(file));
  return program ? { program, args: [] } : null;
}

function isBelow(path, folder) {
  try {
    return `${realpathSync(path)}/`.startsWith(`${realpathSync(folder)}/`);
  } catch {
    return `${resolve(path)}/`.startsWith(`${resolve(folder)}/`);
  }
}

function explain(output, status) {
  const said = output
    .split('\n')
    .filter((line) => /^npm error \S/.test(line) && !/complete log of this run/.test(line))
    .slice(0, 8)
    .join('\n');
  const reasons = [
    [
      /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ERR_SOCKET_TIMEOUT|SELF_SIGNED|UNABLE_TO_/,
      'The package registry cannot be reached. Check the network, the proxy and npm\'s settings ("npm config get registry").',
    ],
    [
      /EUSAGE|in sync/,
      'package.json and package-lock.json do not belong together. Restore both from the repository.',
    ],
    [
      /EINTEGRITY/,
      'A package differs from what package-lock.json promises. Clear npm\'s cache ("npm cache clean --force") and try again.',
    ],
    [/ENOSPC/, 'The disk is full.'],
    [
      /EACCES|EPERM|EROFS/,
      'A folder cannot be written by this user (the checkout, or npm\'s cache: "npm config get cache").',
    ],
  ];
  const reason =
    reasons.find(([pattern]) => pattern.test(output))?.[1] ?? `"npm ci" ended with status ${status}.`;
  return `${said ? `${said}\n\n` : ''}${reason}`;
}

/**
 * Takes a lock file that names its holder; the lock of a holder that is gone is taken over.
 * @param {string} file
 * @returns {Promise<() => void>} gives it back
 */
async function lock(file) {
  mkdirSync(dirname(file), { recursive: true });
  const own = `${file}.${process.pid}`;
  const identity = `${process.pid} ${startOf(process.pid)}`;
  writeFileSync(own, identity);
  let hasSaid = false;
  try {
    while (!take(own, file)) {
      const holder = readText(file);
      if (holder !== null && !isAlive(holder)) removeStale(file, holder, own);
      else {
        if (!hasSaid) process.stderr.write('Waiting for another launch that installs the packages …\n');
        hasSaid = true;
        await new Promise((wake) => setTimeout(wake, pollMilliseconds));
      }
    }
  } finally {
    rmSync(own, { force: true });
  }
  const release = () => {
    if (readText(file) === identity) rmSync(file, { force: true });
  };
  process.once('exit', release);
  return release;
}

function take(own, file) {
  try {
    linkSync(own, file);
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}

/** Moves a stale lock aside; a lock that another process took in the meantime is put back. */
function removeStale(file, holder, own) {
  const aside = `${own}.stale`;
  try {
    renameSync(file, aside);
    if (readText(aside) !== holder) take(aside, file);
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
  }
  rmSync(aside, { force: true });
}

function isAlive(holder) {
  const [pid, start] = holder.split(' ');
  try {
    process.kill(Number(pid), 0);
  } catch (error) {
    return error.code === 'EPERM' && startOf(pid) === start;
  }
  return startOf(pid) === start;
}

/** Field 22 of /proc/<pid>/stat tells a process from a later one with the same pid. */
function startOf(pid) {
  const stat = readText(`/proc/${pid}/stat`);
  return stat === null ? '0' : stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
}

function readText(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}

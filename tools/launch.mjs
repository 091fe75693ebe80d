/**
 * Starts a TypeScript entry with the Node that the lockfile pins, after installing what is missing:
 *
 *   node tools/launch.mjs <entry.ts> [arguments …]
 *
 * Plain JavaScript without packages: any Node from 18 on can run it. Service, agent and command line run as
 * bundled programs. Under the pinned Node a short command is imported into this very process; service and agent,
 * and everything under another Node, replace it. A Node that cannot be replaced starts a child that gets our
 * signals and whose status is ours. An entry is started by being imported: it runs at its top level and does not
 * check whether it is the main module.
 */
import { spawn } from 'node:child_process';
import { accessSync, constants, existsSync, mkdirSync, readFileSync, realpathSync } from 'node:fs';
import module from 'node:module';
import { homedir, constants as system } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { ensureInstalled, LaunchError, passSignals } from './npm/install.mjs';
import { programOf } from './programs/program-of.mjs';
import { webOf } from './programs/web-of.mjs';

/** Node's options for processes that stay: small young generations cost little time and save memory. */
const modeOfServices = ['--max-semi-space-size=8'];

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const serverEntry = join(root, 'server', 'src', 'main.ts');

try {
  await launch(process.argv[2], process.argv.slice(3));
} catch (error) {
  if (!(error instanceof LaunchError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}

async function launch(entry, args) {
  if (!entry) throw new LaunchError('Usage: node tools/launch.mjs <entry.ts> [arguments …]');
  assertOldEnough();
  const file = resolve(root, entry);
  const node = pinnedNode();
  const isForDevelopment = /^(tools\/(?!programs\/)|bench\/|acceptance\/web\/)/.test(relative(root, file));
  await ensureInstalled(root, { withDev: isForDevelopment });
  if (!existsSync(file)) throw new LaunchError(`There is no ${relative(root, file)} in ${root}.`);
  if (!existsSync(node))
    throw new LaunchError(
      `${node} is missing although the packages are installed. Remove ${join(root, 'node_modules')} and try again.`,
    );
  const cache = cacheFolder();
  if (cache) process.env.NODE_COMPILE_CACHE = cache;
  const settings = settingsFile(file);
  const report = (line) => process.stderr.write(`${line}\n`);
  const [program] = await Promise.all([
    programOf(root, file, report, node),
    file === serverEntry && prepareWeb(settings, report, node),
  ]);
  const isPinned = realpathSync(node) === realpathSync(process.execPath);
  const mode = /^(server|agent)\//.test(relative(root, file)) ? modeOfServices : [];
  if (isPinned && mode.length === 0) await runHere(program, args, { cache, settings });
  else {
    const options = settings ? [`--env-file=${settings}`, ...mode] : mode;
    await replaceUs(node, [...options, program, ...args]);
  }
}

/**
 * The file `.env` of the checkout, for service, agent and command line: settings for which the environment has no
 * variable. Checks and tests do not read it, nor does anything read that of another folder.
 */
function settingsFile(file) {
  const settings = join(root, '.env');
  return /^(server|agent|cli)\//.test(relative(root, file)) && existsSync(settings) ? settings : undefined;
}

/** Lets the service know where its web interface is, unless that is set. */
async function prepareWeb(settings, report, node) {
  const isSet = /^\s*(export\s+)?ENVARIUM_WEB_DIR\s*=\s*\S/m;
  if (process.env.ENVARIUM_WEB_DIR || (settings && isSet.test(readFileSync(settings, 'utf8')))) return;
  const { folder, problem } = await webOf(root, report, node);
  if (folder === undefined) process.env.ENVARIUM_WEB_PROBLEM = problem;
  else process.env.ENVARIUM_WEB_DIR = folder;
}

function assertOldEnough() {
  if (Number(process.versions.node.split('.')[0]) < 18)
    throw new LaunchError(
      `Node ${process.versions.node} is too old to start with: Node 18 or later is needed.`,
    );
}

/** Path of the lockfile's Node for this platform, even before it is installed. */
function pinnedNode() {
  const { optionalDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const name = `node-${process.platform}-${process.arch}`;
  if (!(name in optionalDependencies)) {
    const supported = Object.keys(optionalDependencies)
      .filter((key) => key.startsWith('node-'))
      .map((key) => key.slice('node-'.length));
    throw new LaunchError(
      `There is no Node package for ${process.platform}-${process.arch}. Supported platforms: ${supported.join(', ')} (with glibc).`,
    );
  }
  return join(root, 'node_modules', name, 'bin', 'node');
}

/**
 * A folder for compiled code that this user may write, or undefined: in the checkout, else in the user's own
 * cache.
 */
function cacheFolder() {
  const own = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
  for (const folder of [join(root, '.cache', 'compile'), join(own, 'envarium', 'compile')]) {
    try {
      mkdirSync(folder, { recursive: true });
      accessSync(folder, constants.W_OK);
      return folder;
    } catch {
      // Not ours to write: the next one, or none.
    }
  }
  return undefined;
}

async function runHere(file, args, { cache, settings }) {
  if (cache) module.enableCompileCache(cache);
  if (settings) process.loadEnvFile(settings);
  process.argv = [process.argv[0], file, ...args];
  await import(pathToFileURL(file).href);
}

/** Nothing of the launcher remains, except under a Node that cannot replace itself. */
async function replaceUs(node, args) {
  if (process.execve) process.execve(node, [node, ...args], process.env);
  else await runChild(node, args);
}

async function runChild(node, args) {
  const child = spawn(node, args, { stdio: 'inherit', env: process.env });
  const forget = passSignals(child);
  try {
    const [status, signal] = await new Promise((good, bad) => {
      child.once('error', bad);
      child.once('exit', (...end) => good(end));
    });
    process.exitCode = signal ? 128 + system.signals[signal] : status;
  } catch (cause) {
    const hint =
      cause.code === 'ENOENT' ? ' It needs a system with glibc (Debian, Ubuntu, Fedora …; not Alpine).' : '';
    throw new LaunchError(`${node} cannot be started: ${cause.message}.${hint}`, { cause });
  } finally {
    forget();
  }
}

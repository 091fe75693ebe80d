/**
 * The web interface as `npm start` serves it: built from the room `web/`, which takes a few seconds, and kept in
 * `.cache/web` until its sources change. Plain JavaScript like the launcher, which calls it.
 */
import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import { ensureBuilt, stateOf } from './kept-build.mjs';

const builder = 'tools/programs/build-web.mjs';
const sources = {
  files: ['package-lock.json', 'tools/programs/license-notices.ts', builder],
  folders: ['web', 'contract/src'],
};

/**
 * The folder of an up-to-date web interface, which is built first if necessary.
 * @param {string} root the checkout
 * @param {(line: string) => void} report receives one line per build, and one if it fails
 * @param {string} node that runs the builder
 * @returns {Promise<{ folder: string } | { problem: string }>} the folder, absolute, or why there is none
 */
export async function webOf(root, report, node = process.execPath) {
  const folder = join(root, '.cache', 'web', stateOf(root, sources));
  try {
    await ensureBuilt(folder, { root, builder, node, what: 'web interface', report });
    accessSync(join(folder, 'index.html'), constants.R_OK);
    return { folder };
  } catch (error) {
    const reason = error.message.replaceAll(root, '').slice(0, 300);
    report(`The service starts without its web interface, which could not be built: ${reason}`);
    return { problem: `It could not be built when the service started: ${reason}` };
  }
}

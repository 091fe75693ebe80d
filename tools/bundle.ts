/**
 * `npm run bundle [-- folder]`: the command line and the agent as one file each, the web interface as a folder,
 * licences and the bill of materials, by default in `dist/`.
 */
import { join, relative, resolve } from 'node:path';
import { buildBundles } from './programs/build-bundles.ts';
import { copyWeb, placeOfWeb } from './programs/copy-web.ts';
import { webOf } from './programs/web-of.mjs';
import { root } from './tree/repository.ts';

const folder = resolve(process.argv[2] ?? join(root, 'dist'));
placeOfWeb(folder);
const [bundles, web] = await Promise.all([buildBundles(folder), webOf(root, () => undefined)]);
for (const { file, bytes } of bundles)
  console.log(`${relative(process.cwd(), file)}  ${(bytes / 1024).toFixed(0)} kB`);
if ('problem' in web) throw new Error(web.problem);
console.log(`${relative(process.cwd(), await copyWeb(web.folder, folder))}/`);

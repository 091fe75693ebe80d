/**
 * `npm run bundle [-- folder]`: the command line and the agent as one file each, licences and the bill of
 * materials, by default in `dist/`.
 */
import { join, relative, resolve } from 'node:path';
import { buildBundles } from './programs/build-bundles.ts';
import { root } from './repository.ts';

const folder = resolve(process.argv[2] ?? join(root, 'dist'));
for (const { file, bytes } of await buildBundles(folder))
  console.log(`${relative(process.cwd(), file)}  ${(bytes / 1024).toFixed(0)} kB`);

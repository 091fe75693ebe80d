/** `node build-programs.mjs <checkout> <folder>`: bundles all programs of a checkout, for `program-of.mjs`. */

import { relative, resolve, sep } from 'node:path';
import { build } from 'esbuild';
import {
  assertNamesExist,
  embeddedParser,
  lazyBuiltins,
  placesOf,
  sharedOptions,
} from './bundle-plugins.mjs';
import { entries } from './program-of.mjs';

const [, , root, folder] = process.argv;

/** Programs and threads are next to each other; anything else stays in the checkout. */
function placeOf(target) {
  const name = Object.keys(entries).find((each) => resolve(root, entries[each]) === target);
  return name === undefined ? relative(folder, target).replaceAll(sep, '/') : `./${name}.mjs`;
}

const { metafile } = await build({
  absWorkingDir: root,
  entryPoints: entries,
  outdir: folder,
  outExtension: { '.js': '.mjs' },
  chunkNames: 'part-[hash]',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  legalComments: 'none',
  ...sharedOptions,
  banner: {
    js: `import { createRequire as requireOfBundle } from 'node:module';
const require = requireOfBundle(import.meta.url);`,
  },
  plugins: [lazyBuiltins, placesOf(placeOf), embeddedParser],
  metafile: true,
  logLevel: 'error',
});
assertNamesExist(root, metafile);

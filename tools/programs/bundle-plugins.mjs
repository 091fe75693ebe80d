/** Shared options of all bundles: the distributable ones and those of a checkout. */
import { readFileSync } from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import { dirname, resolve } from 'node:path';

/**
 * Adapts `new URL('./other.ts', import.meta.url)` of our own sources, which names a program, thread or folder,
 * to where that is in a bundle. Texts that are read from `.asc` files become a part of the bundle.
 * @param {(target: string) => string | null} placeOf from an absolute path to one relative to the bundle; null
 *   keeps what the source says
 * @returns {import('esbuild').Plugin}
 */
export function placesOf(placeOf) {
  return {
    name: 'places',
    setup({ onLoad }) {
      onLoad({ filter: /\/src\/.*\.ts$/ }, ({ path }) => {
        if (path.includes('/node_modules/')) return null;
        const text = readFileSync(path, 'utf8');
        if (/import\.meta\.(dirname|filename)/.test(text))
          throw new Error(`${path} must name files by new URL('…', import.meta.url), which bundles adapt.`);
        const withTexts = text.replace(
          /readFileSync\(new URL\('(\.[^']*\.asc)', import\.meta\.url\), 'utf8'\)/g,
          (_, target) => JSON.stringify(readFileSync(resolve(dirname(path), target), 'utf8')),
        );
        const contents = withTexts.replace(/new URL\('(\.[^']*)', import\.meta\.url\)/g, (whole, target) => {
          const place = placeOf(resolve(dirname(path), target));
          return place === null ? whole : `new URL(${JSON.stringify(place)}, import.meta.url)`;
        });
        return contents === text ? null : { contents, loader: 'ts' };
      });
    },
  };
}

const readOfParser = 'fs.readFile((0, path_1.join)(__dirname, "..", "main.wasm.gz"))';

/**
 * The HCL parser reads its WebAssembly from a file next to it; in a bundle it is a module.
 * @type {import('esbuild').Plugin}
 */
export const embeddedParser = {
  name: 'embedded-parser',
  setup({ onLoad }) {
    onLoad({ filter: /@cdktn\/hcl2json\/build\/bridge\.js$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8');
      if (!text.includes(readOfParser))
        throw new Error(
          `${path} no longer reads its WebAssembly as expected: correct tools/programs/bundle-plugins.mjs.`,
        );
      return { contents: text.replace(readOfParser, 'require("../main.wasm.gz")') };
    });
  },
};

/**
 * Options of every bundle. The HCL parser requires `performance` only where there is no such global. Packages
 * that come as modules, too, are used as modules, and only the used parts are bundled.
 * @type {{ loader: { '.gz': 'binary' }, external: string[], mainFields: string[] }}
 */
export const sharedOptions = {
  loader: { '.gz': 'binary' },
  external: ['performance'],
  mainFields: ['module', 'main'],
};

/**
 * In a bundle of several files, a dynamic import of a CommonJS package has `default` and no other name, unlike with
 * Node. It has to be imported statically, by a module of ours that may be imported dynamically.
 * @param {string} root the checkout
 * @param {import('esbuild').Metafile} metafile of the bundle
 * @throws {Error} names the module and the package
 */
export function assertNamesExist(root, { inputs }) {
  for (const [file, { imports }] of Object.entries(inputs))
    for (const { kind, path, original } of imports) {
      if (kind !== 'dynamic-import' || inputs[path]?.format !== 'cjs') continue;
      const text = readFileSync(resolve(root, file), 'utf8');
      const taken = new RegExp(String.raw`\{ default: \w+ \} = await import\('${original}'\)`);
      if (!taken.test(text))
        throw new Error(
          `${file} imports ${original} dynamically, whose names a bundle does not have: import it statically.`,
        );
    }
}

/**
 * Loads a module of Node at the first use of one of its names: loading all that a program may need takes
 * longer than most commands.
 */
function lazyModule(path) {
  const real = createRequire(import.meta.url)(`node:${path}`);
  // A name that esbuild does not follow: it is Node's.
  if (typeof real === 'function') return `module.exports = (0, require)('node:${path}');`;
  return `let real;
for (const name of ${JSON.stringify(Object.keys(real))}) Object.defineProperty(exports, name, {
  enumerable: true,
  configurable: true,
  get: () => (real ??= (0, require)('node:${path}'))[name],
  set: (value) => Object.defineProperty(exports, name, { value, writable: true, enumerable: true, configurable: true }),
});`;
}

/** @type {import('esbuild').Plugin} */
export const lazyBuiltins = {
  name: 'lazy-builtins',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^[a-z_:/]+$/ }, ({ path, kind }) => {
      if (kind === 'entry-point' || !isBuiltin(path)) return null;
      // It is loaded when it is needed, with all of its names.
      if (kind === 'dynamic-import') return { path, external: true };
      return { path: path.replace(/^node:/, ''), namespace: 'builtin' };
    });
    onLoad({ filter: /.*/, namespace: 'builtin' }, ({ path }) => ({ contents: lazyModule(path) }));
  },
};

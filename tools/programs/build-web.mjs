/** `node build-web.mjs <checkout> <folder>`: builds the web interface of a checkout, for `web-of.mjs`. */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { build } from 'vite';
import { licenseNotices } from './license-notices.ts';

const [, , root, folder] = process.argv;
// Otherwise the packages' development builds get into the files if it is set: larger and slower.
process.env.NODE_ENV = 'production';

/** Below this many bytes compression costs more than it saves. */
const leastBytes = 1024;
const compressible = /\.(js|css|svg|json|webmanifest|txt)$/;

/** Compressed once here, so that the service never does it. */
async function compress(file) {
  const bytes = await readFile(file);
  if (bytes.length < leastBytes) return;
  const [br, gz] = await Promise.all([
    promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 10 } }),
    promisify(gzip)(bytes, { level: 9 }),
  ]);
  await Promise.all([writeFile(`${file}.br`, br), writeFile(`${file}.gz`, gz)]);
}

const { output } = await build({
  configFile: join(root, 'web', 'vite.config.ts'),
  configLoader: 'native',
  // Nothing of the machine's environment gets into the files.
  envFile: false,
  mode: 'production',
  logLevel: 'error',
  build: { outDir: folder, emptyOutDir: false, write: true },
});
/** The files that are in a part of the output, absolute or below `web`. */
const filesIn = (part) => (part.type === 'chunk' ? part.moduleIds : part.originalFileNames);
const files = output.flatMap(filesIn).map((path) => relative(root, resolve(root, 'web', path.split('?')[0])));
await writeFile(join(folder, 'LICENSES.txt'), await licenseNotices(files));
const entries = await readdir(folder, { recursive: true, withFileTypes: true });
await Promise.all(
  entries
    .filter((entry) => entry.isFile() && compressible.test(entry.name))
    .map((entry) => compress(join(entry.parentPath, entry.name))),
);

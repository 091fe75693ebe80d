/**
 * Bundles programs into one file each, which any supported version of Node runs without other files.
 *
 * Node's own modules are required at their first use and not imported: a command loads only what it needs,
 * and an older Node reads the file and says in a sentence what it lacks, where an import of a name that it
 * does not know would be an error of syntax.
 */

import { chmod, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build, type Metafile, type Plugin } from 'esbuild';
import { root } from '../tree/repository.ts';
import { billOfMaterials } from './bill-of-materials.ts';
import { embeddedParser, lazyBuiltins, placesOf, sharedOptions } from './bundle-plugins.mjs';
import { licenseNotices } from './license-notices.ts';

export interface Bundle {
  readonly file: string;
  readonly bytes: number;
}

interface Program {
  readonly entry: string;
  readonly file: string;
  /** As a sentence calls it. */
  readonly name: string;
  /** Oldest major version of Node that runs it. */
  readonly leastNode: number;
}

export const programs = {
  cli: {
    entry: 'cli/src/main.ts',
    file: 'envarium.mjs',
    name: 'The command line of Envarium',
    leastNode: 22,
  },
  agent: {
    entry: 'agent/src/main.ts',
    file: 'envarium-agent.mjs',
    name: 'The agent of Envarium',
    leastNode: 24,
  },
} as const satisfies Record<string, Program>;

const billName = 'sbom.cdx.json';

/** The beginning of the bundle: an older Node gets no further. */
function head({ name, leastNode }: Program): string {
  return `import { createRequire } from 'node:module';
if (Number(process.versions.node.split('.')[0]) < ${leastNode}) {
  process.stderr.write('${name} needs Node ${leastNode} or later; this is Node ' + process.versions.node + ' (' + process.execPath + ').\\n');
  process.exit(1);
}
const require = createRequire(import.meta.url);`;
}

/** The program in its own file is that file, whatever its name; others keep their addresses. */
function placesFor({ entry }: Program): Plugin {
  return placesOf((target) => (target === join(root, entry) ? '' : null));
}

async function buildOne(program: Program, folder: string): Promise<{ file: string; metafile: Metafile }> {
  const file = join(folder, program.file);
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: [program.entry],
    outfile: file,
    bundle: true,
    format: 'esm',
    platform: 'node',
    // The syntax of the oldest Node that is to read the file and say that it is too old.
    target: 'node18',
    minify: true,
    legalComments: 'none',
    ...sharedOptions,
    banner: { js: head(program) },
    plugins: [lazyBuiltins, placesFor(program), embeddedParser],
    metafile: true,
    logLevel: 'warning',
  });
  return { file, metafile };
}

/** The files that are in a bundle, below the root. */
function filesIn({ outputs }: Metafile): string[] {
  return Object.values(outputs).flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : [])),
  );
}

/**
 * Builds every program's bundle, the licences of the packages that are in them, and the bill of materials.
 * @param folder absolute; made where it is missing
 * @throws Error where a program cannot be bundled
 */
export async function buildBundles(folder: string): Promise<Bundle[]> {
  const built = await Promise.all(Object.values(programs).map((program) => buildOne(program, folder)));
  await Promise.all(built.map(({ file }) => chmod(file, 0o755)));
  await writeFile(
    join(folder, 'LICENSES.txt'),
    await licenseNotices(built.flatMap(({ metafile }) => filesIn(metafile))),
  );
  await writeFile(join(folder, billName), await billOfMaterials());
  return Promise.all(built.map(async ({ file }) => ({ file, bytes: (await stat(file)).size })));
}

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { build, type Metafile } from 'esbuild';
import { assertNamesExist, lazyBuiltins, placesOf } from './bundle-plugins.mjs';

/** Bundles a module that imports others dynamically, into several files. */
async function bundled(t: TestContext, files: Readonly<Record<string, string>>) {
  const root = mkdtempSync(join(tmpdir(), 'envarium-bundle-'));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(root, name), text);
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: ['main.mjs'],
    outdir: join(root, 'bundle'),
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    plugins: [lazyBuiltins],
    metafile: true,
  });
  return { root, metafile, main: join(root, 'bundle', 'main.mjs') };
}

const common = "exports.named = 'named';";
/** Apart from the name that follows, so that it is not taken for an import of this file. */
const load = 'await import';
const own = `'./it.cjs'`;

test('a dynamic import of names that a bundle does not have is refused', async (t) => {
  const check = async (files: Readonly<Record<string, string>>) => {
    const { root, metafile } = await bundled(t, files);
    assertNamesExist(root, metafile as Metafile);
  };
  await assert.rejects(
    check({
      'main.mjs': `const { named } = ${load}('./it.cjs'); console.log(named);`,
      'it.cjs': common,
    }),
    {
      message:
        'main.mjs imports ./it.cjs dynamically, whose names a bundle does not have: import it statically.',
    },
  );
  await check({
    'main.mjs': `const { default: all } = ${load}('./it.cjs'); console.log(all);`,
    'it.cjs': common,
  });
  await check({
    'main.mjs': `const { named } = ${load}('./own.mjs'); console.log(named);`,
    'own.mjs': `import { named } from ${own}; export { named };`,
    'it.cjs': common,
  });
});

test('a dynamic import of a module of Node has its names', async (t) => {
  const { main } = await bundled(t, {
    'main.mjs':
      "const { createServer } = await import('node:http'); export const kind = typeof createServer;",
  });
  assert.equal(((await import(main)) as { kind: string }).kind, 'function');
});

test('a bundle contains the keys of publishers, which sources read from files', async () => {
  const entry = fileURLToPath(new URL('../../protocol/src/tools/keys/index.ts', import.meta.url));
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    format: 'esm',
    platform: 'node',
    write: false,
    plugins: [placesOf(() => null)],
  });
  const text = outputFiles[0]!.text;
  assert.equal(text.match(/BEGIN PGP PUBLIC KEY BLOCK/g)?.length, 2);
  assert.doesNotMatch(text, /import\.meta/);
});

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { root } from '../tree/repository.ts';
import { copyWeb, placeOfWeb } from './copy-web.ts';
import { webOf } from './web-of.mjs';

const built = await webOf(root, () => undefined);
assert.ok('folder' in built, JSON.stringify(built));
const { folder } = built;
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
  statSync(join(folder, file)).isFile(),
);
const textOf = (file: string) => readFileSync(join(folder, file), 'utf8');

test('the web interface is built once, and kept until its sources change', async () => {
  assert.deepEqual(await webOf(root, assert.fail), built);
  assert.match(folder, /\/\.cache\/web\/\w+$/);
});

test('the environment of the builder does not change its files', (t) => {
  const other = mkdtempSync(join(tmpdir(), 'envarium-web-'));
  t.after(() => rmSync(other, { recursive: true }));
  const env = { ...process.env, NODE_ENV: 'development' };
  execFileSync(process.execPath, [join(root, 'tools/programs/build-web.mjs'), root, other], { env });
  assert.deepEqual(
    readdirSync(join(other, 'assets')).toSorted(),
    readdirSync(join(folder, 'assets')).toSorted(),
  );
});

test('a copy replaces an earlier one, and never sources or files of others', async (t) => {
  const distribution = mkdtempSync(join(tmpdir(), 'envarium-dist-'));
  t.after(() => rmSync(distribution, { recursive: true }));
  const copy = await copyWeb(folder, distribution);
  writeFileSync(join(copy, 'old.js'), '');
  await copyWeb(folder, distribution);
  assert.deepEqual(readdirSync(copy).toSorted(), readdirSync(folder).toSorted());
  rmSync(join(copy, 'LICENSES.txt'));
  await assert.rejects(copyWeb(folder, distribution), /something else than a built web interface/);
  assert.ok(readdirSync(copy).includes('index.html'));
  assert.throws(() => placeOfWeb(root), /name another folder/);
});

test('every large text has compressed copies with the same content', () => {
  const texts = files.filter(
    (file) => /\.(js|css|svg|webmanifest|txt)$/.test(file) && textOf(file).length >= 1024,
  );
  assert.ok(texts.length > 5);
  for (const file of texts) {
    const bytes = readFileSync(join(folder, file));
    assert.deepEqual(brotliDecompressSync(readFileSync(join(folder, `${file}.br`))), bytes, file);
    assert.deepEqual(gunzipSync(readFileSync(join(folder, `${file}.gz`))), bytes, file);
  }
});

test('nothing is loaded from another host, and the document contains no script', () => {
  const document = textOf('index.html');
  assert.doesNotMatch(document, /<script(?![^>]*\ssrc=)/, 'only scripts that are files');
  assert.doesNotMatch(document, /\son\w+=|javascript:|\sstyle=|<style/);
  assert.doesNotMatch(document, /https?:/);
  for (const file of files.filter((each) => each.endsWith('.css')))
    assert.doesNotMatch(textOf(file), /(url\(|@import)\s*["']?(https?:)?\/\//, file);
  for (const file of files.filter((each) => each.endsWith('.js')))
    assert.doesNotMatch(textOf(file), /\b(from|import|import\(|fetch\()\s*["'`]https?:/, file);
  assert.deepEqual(
    files.filter((file) => file.endsWith('.map')),
    [],
  );
});

test('a browser can install it: the manifest and its icons are files of the folder', () => {
  const link = /<link rel="manifest" href="([^"]+)"/.exec(textOf('index.html'))?.[1] ?? '';
  const manifest = JSON.parse(textOf(link)) as {
    name: string;
    start_url: string;
    display: string;
    icons: { src: string; sizes: string }[];
  };
  assert.deepEqual([manifest.name, manifest.start_url, manifest.display], ['Envarium', '.', 'standalone']);
  assert.ok(manifest.icons.length > 0);
  for (const { src } of manifest.icons) assert.ok(files.includes(src), src);
});

test('the licences of the packages in it are passed on, those of fonts too', () => {
  const notices = textOf('LICENSES.txt');
  for (const name of ['react', '@mantine/core', '@tanstack/react-router'])
    assert.match(notices, new RegExp(`^${name} \\d`, 'm'));
  assert.match(notices, /^@fontsource-variable\/\S+ [\d.]+ \(OFL-1\.1\)/m);
  assert.ok(!notices.includes(root));
});

test('where it cannot be built, the reason names no paths of the machine', async (t) => {
  const checkout = mkdtempSync(join(tmpdir(), 'envarium-web-of-'));
  t.after(() => rmSync(checkout, { recursive: true, force: true }));
  mkdirSync(join(checkout, 'tools/programs'), { recursive: true });
  const builder = `throw new Error('broken page in ' + process.argv[2] + '/web/src/main.tsx');`;
  writeFileSync(join(checkout, 'tools/programs/build-web.mjs'), builder);
  const lines: string[] = [];
  const found = await webOf(checkout, (line) => lines.push(line));
  assert.ok('problem' in found);
  assert.match(
    found.problem,
    /could not be built when the service started: .*broken page in \/web\/src\/main\.tsx/,
  );
  assert.match(lines.join(), /^The service starts without its web interface/);
  assert.deepEqual(readdirSync(join(checkout, '.cache/web')), []);
});

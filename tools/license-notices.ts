/** The licences of the packages whose code is in a bundle. */
import type { Metafile } from 'esbuild';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { root } from './repository.ts';

/** Folders of packages, below the root. */
function packagesOf(metafiles: readonly Metafile[]): string[] {
  const inputs = metafiles.flatMap((metafile) =>
    Object.values(metafile.outputs).flatMap(({ inputs: used }) =>
      Object.entries(used).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : [])),
    ),
  );
  const folders = inputs.flatMap((path) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []);
  return [...new Set(folders)].toSorted();
}

async function noticeOf(folder: string): Promise<string> {
  const manifest = JSON.parse(await readFile(join(root, folder, 'package.json'), 'utf8')) as Record<
    string,
    unknown
  >;
  const files = (await readdir(join(root, folder)))
    .filter((name) => /^(licen[cs]e|copying|notice)/i.test(name))
    .toSorted();
  const texts = await Promise.all(files.map((name) => readFile(join(root, folder, name), 'utf8')));
  const license = typeof manifest.license === 'string' ? manifest.license : 'see its text';
  return [
    `${String(manifest.name)} ${String(manifest.version)} (${license})`,
    ...texts.map((text) => text.trim()),
  ].join('\n\n');
}

/** @returns one text: each package with its version and the text of its licence */
export async function licenseNotices(metafiles: readonly Metafile[]): Promise<string> {
  const notices = await Promise.all(packagesOf(metafiles).map(noticeOf));
  const line = `\n\n${'-'.repeat(80)}\n\n`;
  return `The programs next to this file contain code of the following packages.${line}${notices.join(line)}\n`;
}

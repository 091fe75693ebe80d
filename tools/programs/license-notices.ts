/** The licences of the packages whose code is in a bundle. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { root } from '../tree/repository.ts';

/** Folders of packages, below the root. */
function packagesOf(files: readonly string[]): string[] {
  const folders = files.flatMap((path) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []);
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

/**
 * @param files that are in a bundle, below the root
 * @returns one text: each package with its version and the text of its licence
 */
export async function licenseNotices(files: readonly string[]): Promise<string> {
  const notices = await Promise.all(packagesOf(files).map(noticeOf));
  const line = `\n\n${'-'.repeat(80)}\n\n`;
  return `The programs next to this file contain code of the following packages.${line}${notices.join(line)}\n`;
}

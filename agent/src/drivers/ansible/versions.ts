/** The versions of the collections and roles that a run has installed. */
import { recordOf } from '#contract/schema/is-record.ts';
import type { TreeReader } from '../interface/capabilities.ts';
import { ownFolder } from '../interface/own-folder.ts';
import { installedCollections } from './commands.ts';

const rolesFolder = `${ownFolder}/roles`;

function versionIn(read: () => unknown): string | null {
  try {
    const version = read();
    return typeof version === 'string' && version !== '' ? version : null;
  } catch {
    return null;
  }
}

async function collections(tree: TreeReader): Promise<[string, string][]> {
  const found: [string, string][] = [];
  for (const namespace of await namesIn(tree, `${ownFolder}/collections`, installedCollections)) {
    for (const name of await tree.list(`${installedCollections}/${namespace}`)) {
      const text = await tree.text(`${installedCollections}/${namespace}/${name}/MANIFEST.json`);
      const version = versionIn(
        () => recordOf(recordOf(JSON.parse(text ?? '{}'))['collection_info'])['version'],
      );
      if (version !== null) found.push([`${namespace}.${name}`, version]);
    }
  }
  return found;
}

async function roles(tree: TreeReader): Promise<[string, string][]> {
  const found: [string, string][] = [];
  for (const name of await namesIn(tree, ownFolder, rolesFolder)) {
    const text = await tree.text(`${rolesFolder}/${name}/meta/.galaxy_install_info`);
    const version = versionIn(() => /^version: ['"]?([^'"\s]+)/m.exec(text ?? '')?.[1]);
    if (version !== null) found.push([name, version]);
  }
  return found;
}

/** Folders in a folder that may be missing; `.info` folders are notes of ansible-galaxy. */
async function namesIn(tree: TreeReader, parent: string, folder: string): Promise<string[]> {
  const last = folder.slice(folder.lastIndexOf('/') + 1);
  if (!(await tree.list(parent)).includes(last)) return [];
  return (await tree.list(folder)).filter((name) => !name.startsWith('.') && !name.endsWith('.info'));
}

/** Versions by names such as `community.general`, sorted. */
export async function installedVersions(tree: TreeReader): Promise<Record<string, string>> {
  if (!(await tree.list('')).includes(ownFolder)) return {};
  const own = await tree.list(ownFolder);
  const found = [...(own.includes('collections') ? await collections(tree) : []), ...(await roles(tree))];
  return Object.fromEntries(found.sort(([left], [right]) => (left < right ? -1 : 1)));
}

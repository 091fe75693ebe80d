/** The program kustomize, one of several that are released in its repository. */
import type { ProgramFacts, ReleaseFacts, ReleasePlace } from './program.ts';
import { firstVersion } from './read-versions.ts';

interface Release {
  readonly tag_name: string;
  readonly assets?: readonly { readonly name: string }[];
}

function archiveName(version: string, platform: string): string {
  return `kustomize_v${version}_${platform}.tar.gz`;
}

function file(version: string, name: string): ReleasePlace {
  return {
    host: 'https://github.com',
    path: `/kubernetes-sigs/kustomize/releases/download/kustomize%2Fv${version}/${name}`,
  };
}

function versionsOf(text: string, platform: string): string[] {
  return (JSON.parse(text) as readonly Release[]).flatMap(({ tag_name: tag, assets }) => {
    const version = /^kustomize\/v(.+)$/.exec(tag)?.[1];
    if (version === undefined) return [];
    const isThere = assets?.some(({ name }) => name === archiveName(version, platform)) ?? true;
    return isThere ? [version] : [];
  });
}

const release: ReleaseFacts = {
  kind: 'archive',
  word: 'kustomize',
  label: 'kustomize',
  publisher: 'Kustomize',
  programs: ['kustomize'],
  layout:
    'with /repos/kubernetes-sigs/kustomize/releases like https://api.github.com and /kubernetes-sigs/kustomize/releases/download like https://github.com',
  index: { host: 'https://api.github.com', path: '/repos/kubernetes-sigs/kustomize/releases' },
  readIndex: versionsOf,
  archive: (version, platform) => ({
    ...file(version, archiveName(version, platform)),
    format: 'tar.gz',
    entry: 'kustomize',
  }),
  checksums: (version) => file(version, 'checksums.txt'),
  signature: null,
};

export const kustomize: ProgramFacts = {
  name: 'kustomize',
  howToGet:
    "install it on the agent's machine, see https://kubectl.docs.kubernetes.io/installation/kustomize/",
  versionArguments: ['version'],
  readVersion: firstVersion,
  versionVariables: ['ENVARIUM_KUSTOMIZE_VERSION'],
  release,
};

/** The program kustomize, one of several that are released in its repository. */
import { gitHubVersions } from './github-releases.ts';
import type { ProgramFacts, ReleaseFacts, ReleasePlace } from './program.ts';
import { firstVersion } from './read-versions.ts';

function archiveName(version: string, platform: string): string {
  return `kustomize_v${version}_${platform}.tar.gz`;
}

function file(version: string, name: string): ReleasePlace {
  return {
    host: 'https://github.com',
    path: `/kubernetes-sigs/kustomize/releases/download/kustomize%2Fv${version}/${name}`,
  };
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
  readIndex: (text, platform) =>
    gitHubVersions(text, /^kustomize\/v(.+)$/, (version) => archiveName(version, platform)),
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

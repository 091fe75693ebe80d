/** The program helm. Nothing but its checksums is published next to the archives: they are not signed there. */
import type { ProgramFacts, ReleaseFacts, ReleasePlace } from './program.ts';
import { firstVersion, versionLines } from './read-versions.ts';

function place(path: string): ReleasePlace {
  return { host: 'https://get.helm.sh', path: `/${path}` };
}

function archiveName(version: string, platform: string): string {
  return `helm-v${version}-${platform.replace('_', '-')}.tar.gz`;
}

const release: ReleaseFacts = {
  kind: 'archive',
  word: 'helm',
  label: 'helm',
  publisher: 'Helm',
  programs: ['helm'],
  layout: 'laid out like https://get.helm.sh',
  // The newest of version 3: 4 is used where it is requested.
  index: place('helm3-latest-version'),
  readIndex: versionLines,
  archive: (version, platform) => ({
    ...place(archiveName(version, platform)),
    format: 'tar.gz',
    entry: `${platform.replace('_', '-')}/helm`,
  }),
  checksums: (version, platform) => place(`${archiveName(version, platform)}.sha256sum`),
  signature: null,
};

export const helm: ProgramFacts = {
  name: 'helm',
  howToGet: "install it on the agent's machine, see https://helm.sh/docs/intro/install/",
  versionArguments: ['version', '--template={{.Version}}'],
  readVersion: firstVersion,
  versionVariables: ['ENVARIUM_HELM_VERSION'],
  release,
};

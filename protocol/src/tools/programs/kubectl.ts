/** The program kubectl, which is published as it is, with the checksum of each file next to it. */
import type { ProgramFacts, ReleaseFacts, ReleasePlace } from './program.ts';
import { firstVersion, versionLines } from './read-versions.ts';

function place(path: string): ReleasePlace {
  return { host: 'https://dl.k8s.io', path: `/release/${path}` };
}

function programPath(version: string, platform: string): string {
  return `v${version}/bin/${platform.replace('_', '/')}/kubectl`;
}

const release: ReleaseFacts = {
  kind: 'archive',
  word: 'kubectl',
  label: 'kubectl',
  publisher: 'Kubernetes',
  programs: ['kubectl'],
  layout: 'laid out like https://dl.k8s.io',
  index: place('stable.txt'),
  readIndex: versionLines,
  archive: (version, platform) => ({
    ...place(programPath(version, platform)),
    format: 'program',
    entry: 'kubectl',
  }),
  checksums: (version, platform) => ({ ...place(`${programPath(version, platform)}.sha256`), isBare: true }),
  signature: null,
};

interface VersionOutput {
  readonly clientVersion: { readonly gitVersion: string };
}

/** Clouds build a kubectl of their own, such as `1.32.4-dispatcher`: what they add makes it no prerelease. */
function readVersion(output: string): string {
  const version = firstVersion((JSON.parse(output) as VersionOutput).clientVersion.gitVersion);
  return version.replace(/-(?!alpha|beta|rc).*$/, '');
}

export const kubectl: ProgramFacts = {
  name: 'kubectl',
  howToGet: "install it on the agent's machine, see https://kubernetes.io/docs/tasks/tools/",
  versionArguments: ['version', '--client', '--output=json'],
  readVersion,
  versionVariables: ['ENVARIUM_KUBECTL_VERSION'],
  release,
};

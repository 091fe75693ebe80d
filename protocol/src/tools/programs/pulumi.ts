/** The programs of Pulumi: its CLI, and the hosts of the languages that come in the same archive. */
import { gitHubVersions } from './github-releases.ts';
import type { ProgramFacts, ReleaseFacts, ReleasePlace } from './program.ts';
import { firstVersion } from './read-versions.ts';

const repository = 'pulumi/pulumi';

function file(version: string, name: string): ReleasePlace {
  return { host: 'https://github.com', path: `/${repository}/releases/download/v${version}/${name}` };
}

function archiveName(version: string, platform: string): string {
  return `pulumi-v${version}-${platform.replace('_amd64', '-x64').replace('_', '-')}.tar.gz`;
}

const release: ReleaseFacts = {
  kind: 'archive',
  word: 'pulumi',
  label: 'Pulumi',
  publisher: 'Pulumi',
  programs: ['pulumi', 'pulumi-language-yaml'],
  layout: `with /repos/${repository}/releases like https://api.github.com and /${repository}/releases/download like https://github.com`,
  index: { host: 'https://api.github.com', path: `/repos/${repository}/releases?per_page=100` },
  readIndex: (text, platform) => gitHubVersions(text, /^v(.+)$/, (version) => archiveName(version, platform)),
  archive: (version, platform) => ({
    ...file(version, archiveName(version, platform)),
    format: 'tar.gz',
    entry: 'pulumi/pulumi',
    others: /^pulumi\/(pulumi-[a-z0-9-]+)$/,
  }),
  checksums: (version) => file(version, `pulumi-${version}-checksums.txt`),
  signature: null,
};

const common = {
  howToGet: "install Pulumi on the agent's machine, see https://www.pulumi.com/docs/install/",
  readVersion: firstVersion,
  release,
} as const;

export const pulumi: ProgramFacts = {
  ...common,
  name: 'pulumi',
  versionArguments: ['version'],
  versionVariables: ['ENVARIUM_PULUMI_VERSION'],
};

/** Of the same release as `pulumi`, which knows its version: it reports none itself. */
export const pulumiLanguageYaml: ProgramFacts = {
  ...common,
  name: 'pulumi-language-yaml',
  versionArguments: [],
  versionVariables: [],
};

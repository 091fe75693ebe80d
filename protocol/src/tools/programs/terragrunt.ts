/** The program terragrunt, which is published as it is. Nothing but its checksums is published next to it. */
import { gitHubVersions } from './github-releases.ts';
import type { ProgramFacts, ReleaseFacts, ReleasePlace } from './program.ts';
import { firstVersion } from './read-versions.ts';

const repository = 'gruntwork-io/terragrunt';

function file(version: string, name: string): ReleasePlace {
  return { host: 'https://github.com', path: `/${repository}/releases/download/v${version}/${name}` };
}

function programName(platform: string): string {
  return `terragrunt_${platform}`;
}

const release: ReleaseFacts = {
  kind: 'archive',
  word: 'terragrunt',
  label: 'terragrunt',
  publisher: 'Gruntwork',
  programs: ['terragrunt'],
  layout: `with /repos/${repository}/releases like https://api.github.com and /${repository}/releases/download like https://github.com`,
  index: { host: 'https://api.github.com', path: `/repos/${repository}/releases?per_page=100` },
  readIndex: (text, platform) => gitHubVersions(text, /^v(.+)$/, () => programName(platform)),
  archive: (version, platform) => ({
    ...file(version, programName(platform)),
    format: 'program',
    entry: 'terragrunt',
  }),
  checksums: (version) => file(version, 'SHA256SUMS'),
  signature: null,
};

export const terragrunt: ProgramFacts = {
  name: 'terragrunt',
  howToGet:
    "install it on the agent's machine, see https://terragrunt.gruntwork.io/docs/getting-started/install/",
  versionArguments: ['--version'],
  readVersion: firstVersion,
  versionVariables: ['ENVARIUM_TERRAGRUNT_VERSION'],
  release,
};

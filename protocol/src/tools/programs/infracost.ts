/** The program infracost, which estimates what a plan costs. Nothing but its checksums is published next to it. */
import { gitHubVersions } from './github-releases.ts';
import type { ProgramFacts, ReleaseFacts, ReleasePlace } from './program.ts';
import { firstVersion } from './read-versions.ts';

const repository = 'infracost/infracost';

function file(version: string, name: string): ReleasePlace {
  return { host: 'https://github.com', path: `/${repository}/releases/download/v${version}/${name}` };
}

function programName(platform: string): string {
  return `infracost-${platform.replace('_', '-')}`;
}

const release: ReleaseFacts = {
  kind: 'archive',
  word: 'infracost',
  label: 'infracost',
  publisher: 'Infracost',
  programs: ['infracost'],
  layout: `with /repos/${repository}/releases like https://api.github.com and /${repository}/releases/download like https://github.com`,
  index: { host: 'https://api.github.com', path: `/repos/${repository}/releases?per_page=100` },
  // Later ones may print something else.
  readIndex: (text, platform) =>
    gitHubVersions(text, /^v(0\.10\..+)$/, () => `${programName(platform)}.tar.gz`),
  archive: (version, platform) => ({
    ...file(version, `${programName(platform)}.tar.gz`),
    format: 'tar.gz',
    entry: programName(platform),
  }),
  checksums: (version, platform) => file(version, `${programName(platform)}.tar.gz.sha256`),
  signature: null,
};

export const infracost: ProgramFacts = {
  name: 'infracost',
  howToGet: "install it on the agent's machine, see https://www.infracost.io/docs/",
  versionArguments: ['--version'],
  readVersion: firstVersion,
  versionVariables: ['ENVARIUM_INFRACOST_VERSION'],
  release,
};

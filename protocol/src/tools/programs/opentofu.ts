/** The program of OpenTofu. */
import { opentofuKey } from '../keys/index.ts';
import { readFamilyVersion } from './family-version.ts';
import type { ProgramFacts, ReleaseFacts, ReleasePlace } from './program.ts';

interface OpenTofuIndex {
  readonly versions: readonly { readonly id: string; readonly files?: readonly string[] }[];
}

function file(version: string, ending: string): ReleasePlace {
  return {
    host: 'https://github.com',
    path: `/opentofu/opentofu/releases/download/v${version}/tofu_${version}_${ending}`,
  };
}

const release: ReleaseFacts = {
  kind: 'archive',
  word: 'opentofu',
  label: 'OpenTofu',
  publisher: 'OpenTofu',
  programs: ['tofu'],
  layout:
    'with /tofu/api.json like https://get.opentofu.org and /opentofu/opentofu/releases/download like https://github.com',
  index: { host: 'https://get.opentofu.org', path: '/tofu/api.json' },
  readIndex: (text, platform) =>
    (JSON.parse(text) as OpenTofuIndex).versions
      .filter(({ id, files }) => files === undefined || files.includes(`tofu_${id}_${platform}.zip`))
      .map(({ id }) => id),
  archive: (version, platform) => ({
    ...file(version, `${platform}.zip`),
    format: 'zip',
    entry: 'tofu',
  }),
  checksums: (version) => file(version, 'SHA256SUMS'),
  signature: {
    places: (version) => [file(version, 'SHA256SUMS.gpgsig')],
    publicKey: opentofuKey,
  },
};

export const opentofu: ProgramFacts = {
  name: 'tofu',
  howToGet: "install it on the agent's machine, see https://opentofu.org/docs/intro/install/",
  versionArguments: ['version', '-json'],
  readVersion: readFamilyVersion,
  versionVariables: ['ENVARIUM_OPENTOFU_VERSION'],
  release,
};

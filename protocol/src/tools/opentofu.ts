/** Facts of OpenTofu. */
import { opentofuKey } from './keys/opentofu.ts';
import { familyFacts, familySteps } from './terraform-family.ts';
import type { ReleaseFacts, ReleasePlace, ToolFacts } from './tool.ts';

interface Index {
  readonly versions: readonly { readonly id: string; readonly files?: readonly string[] }[];
}

function file(version: string, ending: string): ReleasePlace {
  return {
    host: 'https://github.com',
    path: `/opentofu/opentofu/releases/download/v${version}/tofu_${version}_${ending}`,
  };
}

const release: ReleaseFacts = {
  publisher: 'OpenTofu',
  layout:
    'with /tofu/api.json like https://get.opentofu.org and /opentofu/opentofu/releases/download like https://github.com',
  index: { host: 'https://get.opentofu.org', path: '/tofu/api.json' },
  readIndex: (text, platform) =>
    (JSON.parse(text) as Index).versions
      .filter(({ id, files }) => files === undefined || files.includes(`tofu_${id}_${platform}.zip`))
      .map(({ id }) => id),
  archive: (version, platform) => file(version, `${platform}.zip`),
  checksums: (version) => file(version, 'SHA256SUMS'),
  signatures: (version) => [file(version, 'SHA256SUMS.gpgsig')],
  publicKey: opentofuKey,
};

export const opentofu: ToolFacts = {
  ...familyFacts,
  type: 'opentofu',
  label: 'OpenTofu',
  program: {
    name: 'tofu',
    howToGet: "install it on the agent's machine, see https://opentofu.org/docs/intro/install/",
    versionArguments: ['version', '-json'],
    release,
  },
  version: {
    field: 'opentofuVersion',
    variables: ['ENVARIUM_OPENTOFU_VERSION'],
    file: '.opentofu-version',
  },
  steps: familySteps('opentofu'),
};

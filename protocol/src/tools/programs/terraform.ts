/** The program terraform. */
import { hashicorpKey } from '../keys/index.ts';
import { readFamilyVersion } from './family-version.ts';
import type { ProgramFacts, ReleaseFacts, ReleasePlace } from './program.ts';

interface TerraformIndex {
  readonly versions: Readonly<
    Record<string, { readonly builds?: readonly { readonly os: string; readonly arch: string }[] }>
  >;
}

function place(path: string): ReleasePlace {
  return { host: 'https://releases.hashicorp.com', path: `/terraform/${path}` };
}

function file(version: string, ending: string): ReleasePlace {
  return place(`${version}/terraform_${version}_${ending}`);
}

const release: ReleaseFacts = {
  kind: 'archive',
  word: 'terraform',
  label: 'terraform',
  publisher: 'HashiCorp',
  programs: ['terraform'],
  layout: 'laid out like https://releases.hashicorp.com',
  index: place('index.json'),
  readIndex: (text, platform) =>
    Object.entries((JSON.parse(text) as TerraformIndex).versions)
      .filter(([, { builds }]) => builds?.some(({ os, arch }) => `${os}_${arch}` === platform))
      .map(([version]) => version),
  archive: (version, platform) => ({
    ...file(version, `${platform}.zip`),
    format: 'zip',
    entry: 'terraform',
  }),
  checksums: (version) => file(version, 'SHA256SUMS'),
  signature: {
    places: (version, keyIds) =>
      ['SHA256SUMS.sig', ...keyIds.map((id) => `SHA256SUMS.${id}.sig`)].map((ending) =>
        file(version, ending),
      ),
    publicKey: hashicorpKey,
  },
};

export const terraform: ProgramFacts = {
  name: 'terraform',
  howToGet: "install it on the agent's machine, see https://developer.hashicorp.com/terraform/install",
  versionArguments: ['version', '-json'],
  readVersion: readFamilyVersion,
  versionVariables: ['ENVARIUM_TERRAFORM_VERSION', 'ENVARIUM_TF_VERSION'],
  release,
};

/** Facts of terraform. */
import { hashicorpKey } from './keys/hashicorp.ts';
import { familyFacts, familySteps } from './terraform-family.ts';
import type { ReleaseFacts, ReleasePlace, ToolFacts } from './tool.ts';

interface Index {
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
  publisher: 'HashiCorp',
  layout: 'laid out like https://releases.hashicorp.com',
  index: place('index.json'),
  readIndex: (text, platform) =>
    Object.entries((JSON.parse(text) as Index).versions)
      .filter(([, { builds }]) => builds?.some(({ os, arch }) => `${os}_${arch}` === platform))
      .map(([version]) => version),
  archive: (version, platform) => file(version, `${platform}.zip`),
  checksums: (version) => file(version, 'SHA256SUMS'),
  signatures: (version, keyIds) =>
    ['SHA256SUMS.sig', ...keyIds.map((id) => `SHA256SUMS.${id}.sig`)].map((ending) => file(version, ending)),
  publicKey: hashicorpKey,
};

export const terraform: ToolFacts = {
  ...familyFacts,
  type: 'terraform',
  label: 'terraform',
  program: {
    name: 'terraform',
    howToGet: "install it on the agent's machine, see https://developer.hashicorp.com/terraform/install",
    versionArguments: ['version', '-json'],
    release,
  },
  version: {
    field: 'terraformVersion',
    variables: ['ENVARIUM_TERRAFORM_VERSION', 'ENVARIUM_TF_VERSION'],
    file: '.terraform-version',
  },
  steps: familySteps('tf'),
};

/**
 * Where each tool is published: its index of versions, its files, and the key that signs their checksums. A
 * mirror has the same paths below an address of its own, whatever hosts they are published on.
 */
import { valid } from 'semver';
import { hashicorpKey } from './keys/hashicorp.ts';
import { opentofuKey } from './keys/opentofu.ts';

/** A path below the publisher's host or the mirror's address. */
export interface Place {
  readonly host: string;
  /** Begins with `/`. */
  readonly path: string;
}

export interface ToolSource {
  /** Also the name of the program in its archive. */
  readonly program: string;
  /** Who it comes from when there is no mirror, as messages name it. */
  readonly publisher: string;
  readonly index: Place;
  /**
   * Versions that the index lists for a platform; entries that are no semantic versions do not count. Throws
   * what a parser throws.
   */
  readIndex(text: string, platform: string): string[];
  /** A zip archive. */
  archive(version: string, platform: string): Place;
  checksums(version: string): Place;
  /**
   * Where a signature of the checksums may be, in the order to look. @param keyIds short ids of the keys that
   * count
   */
  signatures(version: string, keyIds: readonly string[]): Place[];
  /** Armored. */
  readonly publicKey: string;
}

const hashicorpHost = 'https://releases.hashicorp.com';
const opentofuHost = 'https://get.opentofu.org';
const githubHost = 'https://github.com';

interface HashicorpIndex {
  readonly versions: Readonly<
    Record<string, { readonly builds?: readonly { readonly os: string; readonly arch: string }[] }>
  >;
}

function hashicorpSource(product: string): ToolSource {
  const place = (path: string): Place => ({ host: hashicorpHost, path: `/${product}/${path}` });
  const file = (version: string, ending: string) => place(`${version}/${product}_${version}_${ending}`);
  return {
    program: product,
    publisher: 'HashiCorp',
    index: place('index.json'),
    readIndex: (text, platform) =>
      Object.entries((JSON.parse(text) as HashicorpIndex).versions)
        .filter(
          ([version, { builds }]) =>
            valid(version) && builds?.some(({ os, arch }) => `${os}_${arch}` === platform),
        )
        .map(([version]) => version),
    archive: (version, platform) => file(version, `${platform}.zip`),
    checksums: (version) => file(version, 'SHA256SUMS'),
    signatures: (version, keyIds) =>
      ['SHA256SUMS.sig', ...keyIds.map((id) => `SHA256SUMS.${id}.sig`)].map((ending) =>
        file(version, ending),
      ),
    publicKey: hashicorpKey,
  };
}

interface OpentofuIndex {
  readonly versions: readonly { readonly id: string; readonly files?: readonly string[] }[];
}

function opentofuFile(version: string, ending: string): Place {
  return {
    host: githubHost,
    path: `/opentofu/opentofu/releases/download/v${version}/tofu_${version}_${ending}`,
  };
}

const opentofu: ToolSource = {
  program: 'tofu',
  publisher: 'OpenTofu',
  index: { host: opentofuHost, path: '/tofu/api.json' },
  readIndex: (text, platform) =>
    (JSON.parse(text) as OpentofuIndex).versions
      .filter(
        ({ id, files }) => valid(id) && (files === undefined || files.includes(`tofu_${id}_${platform}.zip`)),
      )
      .map(({ id }) => id),
  archive: (version, platform) => opentofuFile(version, `${platform}.zip`),
  checksums: (version) => opentofuFile(version, 'SHA256SUMS'),
  signatures: (version) => [opentofuFile(version, 'SHA256SUMS.gpgsig')],
  publicKey: opentofuKey,
};

/** Every tool that can be fetched, by the name of its program. */
const toolSources: Readonly<Record<string, ToolSource>> = {
  terraform: hashicorpSource('terraform'),
  tofu: opentofu,
};

/** @returns null for a program that is not fetched: it must be on the agent's PATH */
export function toolSourceOf(program: string): ToolSource | null {
  return toolSources[program] ?? null;
}

/**
 * Declares imports as `import` blocks in JSON, which needs no quoting of ours. What an earlier run printed is
 * not trusted: an address is accepted only as a whole, and nothing in it or in an id is evaluated.
 */
import { lt } from 'semver';
import { sha256 } from '#protocol/approved.ts';
import type { ResourceToImport } from '#protocol/messages/job.ts';
import type { DeclaredImports, ImportCapability } from '../interface/capabilities.ts';
import { readAddress } from './address.ts';
import type { FileRules } from './code/files.ts';
import type { Flavor } from './commands.ts';
import { readTerraformState } from './state.ts';

type Flavored = Pick<Flavor, 'facts' | 'fileRules' | 'importsFrom'>;

/** Both tools evaluate a template within the key of an address. */
const template = /[$%]\{/;

function typeOf(address: string): string | null {
  const found = readAddress(address);
  const isResource = found?.end === address.length && found.value.mode === 'managed';
  return isResource && !template.test(address) ? found.value.type : null;
}

/** Type and id of each resource in a state; empty where the tool has encrypted it. */
function recordedIds(state: Uint8Array | null): ReadonlySet<string> {
  if (state === null) return new Set();
  const { resources, ids } = readTerraformState(state);
  return new Set(resources.map(({ type }, at) => keyOf(type, ids[at])));
}

function keyOf(type: string, id: string | undefined): string {
  return JSON.stringify([type, id]);
}

/** Text that both tools read as it is. */
function literal(text: string): string {
  return text.replaceAll(/[$%](?=\{)/g, (sign) => sign + sign);
}

/** Named by its content: a file of the code has the name only if it is the same file. */
function fileOf(
  imported: readonly ResourceToImport[],
  { overrideEnding }: FileRules,
): DeclaredImports['file'] {
  if (imported.length === 0) return null;
  const blocks = imported.map(({ address, id }) => ({ to: address, id: literal(id) }));
  const content = `${JSON.stringify({ import: blocks }, null, 2)}\n`;
  return { name: `envarium_imports_${sha256(content).slice(0, 16)}${overrideEnding}`, content };
}

function declareImports(
  rules: FileRules,
  wanted: readonly ResourceToImport[],
  state: Uint8Array | null,
): DeclaredImports {
  const recorded = recordedIds(state);
  const imported: ResourceToImport[] = [];
  const skipped: DeclaredImports['skipped'][number][] = [];
  for (const resource of wanted) {
    const type = typeOf(resource.address);
    if (type === null) skipped.push({ ...resource, reason: 'its address cannot be used in an import block' });
    else if (recorded.has(keyOf(type, resource.id)))
      skipped.push({ ...resource, reason: 'the state already has a resource with this ID' });
    else imported.push(resource);
  }
  return { file: fileOf(imported, rules), imported, skipped };
}

/** Imports of a tool of the family. */
export function importsOf({ facts, fileRules, importsFrom }: Flavored): ImportCapability {
  return {
    refusal: (version) =>
      lt(version, importsFrom)
        ? `${facts.label} ${version} cannot import resources as part of a plan: version ${importsFrom} or later is needed`
        : null,
    declare: (wanted, state) => declareImports(fileRules, wanted, state),
  };
}

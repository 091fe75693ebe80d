/**
 * Reads the approval policies that come with the service, in `policies/`. Those without an `allow` rule decide by the
 * rules of `plan.rego`, which becomes one of their files.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import type { CataloguePolicy } from '#contract/approval-policies/catalogue.ts';

const folder = fileURLToPath(new URL('../../../../../policies', import.meta.url));

const sharedName = 'plan.rego';
const decidesAlone = /^allow\b/m;

type PolicyMetadata = Omit<CataloguePolicy, 'path' | 'configurationSchema' | 'files'>;

function readPolicy(path: string): CataloguePolicy {
  const text = (file: string) => readFileSync(join(folder, path, file), 'utf8');
  const names = readdirSync(join(folder, path)).filter((name) => name.endsWith('.rego'));
  const own = Object.fromEntries(names.map((name) => [name, text(name)]));
  const shared: Record<string, string> = Object.values(own).some((rego) => decidesAlone.test(rego))
    ? {}
    : { [sharedName]: readFileSync(join(folder, sharedName), 'utf8') };
  const schema = existsSync(join(folder, path, 'configurationSchema.json'));
  return {
    path,
    ...(parse(text('metadata.yml')) as PolicyMetadata),
    ...(schema && {
      configurationSchema: JSON.parse(text('configurationSchema.json')) as Record<string, unknown>,
    }),
    files: { ...shared, ...own },
  };
}

let policies: readonly CataloguePolicy[] | undefined;

/** All of them, by folder; read once. */
export function catalogue(): readonly CataloguePolicy[] {
  policies ??= readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .toSorted()
    .map(readPolicy);
  return policies;
}

/** @param path of an approval policy with the catalogue as its repository, in whatever form */
export function findInCatalogue(path: string | undefined): CataloguePolicy | undefined {
  const wanted = path?.replace(/^[./]+|\/+$/g, '');
  return catalogue().find((policy) => policy.path === wanted);
}

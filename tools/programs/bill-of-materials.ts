/** The bill of materials (SBOM): every package that the programs use in production, as CycloneDX. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runNpm } from '../npm/run-npm.ts';
import { root } from '../tree/repository.ts';

interface Component {
  readonly 'bom-ref': string;
  name: string;
  licenses?: { license: { id: string } }[];
}

interface Dependency {
  readonly ref: string;
  dependsOn?: string[];
}

interface Bill {
  serialNumber?: string;
  readonly metadata: { timestamp?: string; readonly component: Component };
  components: Component[];
  dependencies: Dependency[];
}

interface Lockfile {
  readonly name: string;
  readonly packages: Readonly<Record<string, { readonly version: string; readonly dev?: boolean }>>;
}

/** Identifiers that npm shortens, so that they no longer mean what the package says. */
const exactLicenses: Readonly<Record<string, string>> = { openpgp: 'LGPL-3.0-or-later' };

/**
 * The bill of this version, made from the lockfile: of all platforms, and the same for every checkout.
 * @returns JSON
 * @throws Error when npm cannot make it
 */
export async function billOfMaterials(): Promise<string> {
  const { status, stdout, stderr } = await runNpm([
    'sbom',
    '--sbom-format=cyclonedx',
    '--sbom-type=application',
    '--package-lock-only',
    '--loglevel=error',
  ]);
  if (status !== 0)
    throw new Error(`npm 10 or later makes the bill of materials; this one failed: ${stderr.trim()}`);
  const bill = JSON.parse(stdout) as Bill;
  const lockfile = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as Lockfile;
  keepProduction(bill, lockfile);
  delete bill.serialNumber;
  delete bill.metadata.timestamp;
  // npm calls it like the folder of the checkout.
  bill.metadata.component.name = lockfile.name;
  for (const component of bill.components) {
    const id = exactLicenses[component.name];
    if (id !== undefined) component.licenses = [{ license: { id } }];
  }
  return `${JSON.stringify(bill, null, 2)}\n`;
}

/** Not by `--omit=dev`: npm would also omit production packages that a development package uses. */
function keepProduction(bill: Bill, { packages }: Lockfile): void {
  const kept = new Set(
    Object.entries(packages)
      .filter(([, { dev }]) => !dev)
      .map(([path, { version }]) => `${path.replace(/^(.*\/)?node_modules\//, '')}@${version}`),
  );
  kept.add(bill.metadata.component['bom-ref']);
  bill.components = bill.components.filter((component) => kept.has(component['bom-ref']));
  bill.dependencies = bill.dependencies.filter(({ ref }) => kept.has(ref));
  for (const dependency of bill.dependencies)
    dependency.dependsOn = dependency.dependsOn?.filter((ref) => kept.has(ref)) ?? [];
}

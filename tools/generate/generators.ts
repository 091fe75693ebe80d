/** The generated pages: which file, and which function of which module writes it. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from '../tree/repository.ts';

interface Generator {
  /** The page, below the root. */
  readonly file: string;
  /** The module that knows it, below the root. */
  readonly module: string;
  /** Its function without parameters: the page's text, or an object that becomes JSON. */
  readonly exported: string;
}

export const generators: readonly Generator[] = [
  { file: 'server/src/rows/schema.ts', module: 'tools/generate/table-types.ts', exported: 'tableTypesFile' },
  {
    file: 'contract/src/routes.ts',
    module: 'contract/src/documents/routes-file.ts',
    exported: 'routesFile',
  },
  {
    file: 'contract/src/schema/reply-forms.ts',
    module: 'contract/src/documents/reply-forms-file.ts',
    exported: 'replyFormsFile',
  },
  { file: 'docs/operate/settings.md', module: 'settings/src/pages.ts', exported: 'settingsPage' },
  { file: 'docs/integrate/errors.md', module: 'contract/src/schema/errors.ts', exported: 'errorsPage' },
  { file: 'docs/integrate/nulls.md', module: 'contract/src/schema/nulls.ts', exported: 'nullsPage' },
  {
    file: 'docs/use/life-cycles.md',
    module: 'contract/src/documents/life-cycle-page.ts',
    exported: 'lifeCyclePage',
  },
  {
    file: 'docs/operate/permissions.md',
    module: 'contract/src/documents/permissions-page.ts',
    exported: 'permissionsPage',
  },
  { file: 'docs/operate/recovery.md', module: 'acceptance/recovery/law.ts', exported: 'recoveryPage' },
  { file: 'docs/openapi.json', module: 'tools/generate/contract-pages.ts', exported: 'openApiFile' },
  { file: 'docs/use/policy-catalogue.md', module: 'tools/policies/generated.ts', exported: 'cataloguePage' },
  { file: 'docs/contribute/architecture.md', module: 'tools/house/rooms.ts', exported: 'architecturePage' },
  { file: 'tools/house/english.txt', module: 'tools/house/english.ts', exported: 'englishTable' },
];

/** Pages that are built from the sources whenever they are needed, and not committed. */
export const builtPages: readonly Generator[] = [
  { file: 'dist/docs/reference.html', module: 'tools/generate/contract-pages.ts', exported: 'referenceFile' },
  { file: 'dist/docs/coverage.md', module: 'tools/generate/contract-pages.ts', exported: 'coverageFile' },
  { file: 'dist/docs/cli-commands.md', module: 'cli/src/commands-page.ts', exported: 'commandsPage' },
];

/** Text of a page according to its generator, ending with a newline. */
export async function produce({ module, exported, file }: Generator): Promise<string> {
  const names = (await import(pathToFileURL(join(root, module)).href)) as Record<string, unknown>;
  const write = names[exported];
  if (typeof write !== 'function')
    throw new Error(`${module} exports no function "${exported}", which writes ${file}.`);
  const page: unknown = await write();
  const text = typeof page === 'string' ? page : JSON.stringify(page, null, 2);
  return `${text.trimEnd()}\n`;
}

/**
 * Compares every page with its generator, and optionally writes those that differ.
 * @returns the pages that differed
 */
export async function outdatedPages({ isWriting }: { isWriting: boolean }): Promise<string[]> {
  const outdated: string[] = [];
  for (const generator of generators) {
    const path = join(root, generator.file);
    const wanted = await produce(generator);
    if (existsSync(path) && readFileSync(path, 'utf8') === wanted) continue;
    outdated.push(generator.file);
    if (isWriting) writeFileSync(path, wanted);
  }
  return outdated;
}

/** Writes the pages that are not committed. */
export async function buildPages(): Promise<void> {
  for (const generator of builtPages) {
    const path = join(root, generator.file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, await produce(generator));
  }
}

/**
 * `npm run generate [-- --check]`: writes the generated pages, or says which are not current. Pages that are
 * not committed are only written.
 */
import { buildPages, builtPages, generators, outdatedPages } from './generators.ts';

const isChecking = process.argv.includes('--check');
const outdated = await outdatedPages({ isWriting: !isChecking });

for (const file of outdated)
  console.log(isChecking ? `✖ ${file} is not current: run "npm run generate"` : `${file} written`);
if (outdated.length === 0) console.log(`✔ all ${generators.length} generated pages are current`);
if (!isChecking) {
  await buildPages();
  for (const { file } of builtPages) console.log(`✔ ${file} built`);
}
process.exitCode = isChecking && outdated.length > 0 ? 1 : 0;

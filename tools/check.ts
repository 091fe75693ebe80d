/** `npm run check`: format, lint, types, and the rules of the house. */
import { spawnSync } from 'node:child_process';
import { runChecks } from './run-checks.ts';
import { repositoryFiles, root } from './tree/repository.ts';

const areClean = await runChecks();
const rules = repositoryFiles().filter(
  (file) => file.startsWith('tools/house/') && file.endsWith('.test.ts'),
);
// In one process: reading the files takes less time than starting one for each rule.
const options = ['--test', '--test-isolation=none', '--test-reporter=dot'];
const house = spawnSync(process.execPath, [...options, ...rules], { cwd: root, stdio: 'inherit' });
console.log(house.status === 0 ? '✔ house' : '✖ house: correct what the rules above name');
process.exitCode = areClean && house.status === 0 ? 0 : 1;

/**
 * `npm test [-- quick | path …]`: type check, lint and format check, then the tests.
 *
 *   (nothing)   everything
 *   quick       all but acceptance/ and files named *.slow.test.ts
 *   path …      only test files whose path begins with one of these, without the checks
 *
 * The last lines are the counts of all tests.
 */
import { availableParallelism } from 'node:os';
import { startTestServer, testServerVariable } from '../server/src/database/test-server.ts';
import { repositoryFiles } from './repository.ts';
import { runChecks } from './run-checks.ts';
import { type Batch, runTests } from './run-tests.ts';

const words = process.argv.slice(2);
const isQuick = words.includes('quick');
const paths = words.filter((word) => word !== 'quick').map((word) => word.replace(/^\.\//, ''));

const files = repositoryFiles()
  .filter((file) => file.endsWith('.test.ts'))
  .filter((file) => !isQuick || !(file.startsWith('acceptance/') || file.endsWith('.slow.test.ts')))
  .filter((file) => paths.length === 0 || paths.some((path) => file.startsWith(path)));

if (files.length === 0) {
  console.error(
    `No test file matches ${paths.join(', ') || 'this choice'}: give paths as "git ls-files" prints them.`,
  );
  process.exit(2);
}

const batches: Batch[] = [
  {
    files: files.filter((file) => !file.startsWith('acceptance/')),
    concurrency: Math.max(2, availableParallelism()),
    fileMinutes: 5,
  },
  { files: files.filter((file) => file.startsWith('acceptance/')), concurrency: 2, fileMinutes: 15 },
];

const areClean = paths.length > 0 || (await runChecks());
// One PostgreSQL for all test files of the server: starting one takes a second, cloning a database 25 ms.
await using database = files.some((file) => file.startsWith('server/')) ? await startTestServer() : undefined;
if (database) process.env[testServerVariable] = JSON.stringify(database.address);
const arePassed = await runTests(batches);
process.exitCode = areClean && arePassed ? 0 : 1;

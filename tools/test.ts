/**
 * `npm test [-- quick | slow | path …]`: type check, lint and format check, then the tests.
 *
 *   (nothing)   all but files named *.slow.test.ts
 *   quick       also without acceptance/
 *   slow        only files named *.slow.test.ts, one at a time, without the checks
 *   path …      only test files whose path begins with one of these, without the checks; slow ones by their
 *               whole path, or with `slow`
 *
 * The last lines are the counts of all tests.
 */
import { availableParallelism } from 'node:os';
import { startTestServer, testServerVariable } from '../server/testing/database-server.ts';
import { repositoryFiles } from './repository.ts';
import { runChecks } from './run-checks.ts';
import { type Batch, runTests } from './run-tests.ts';

const words = process.argv.slice(2);
const isQuick = words.includes('quick');
const isSlow = words.includes('slow');
const paths = words
  .filter((word) => word !== 'quick' && word !== 'slow')
  .map((word) => word.replace(/^\.\//, ''));

function isChosen(file: string): boolean {
  if (isQuick && file.startsWith('acceptance/')) return false;
  return file.endsWith('.slow.test.ts') ? isSlow || paths.includes(file) : !isSlow;
}

const files = repositoryFiles()
  .filter((file) => file.endsWith('.test.ts'))
  .filter(isChosen)
  .filter((file) => paths.length === 0 || paths.some((path) => file.startsWith(path)));

if (files.length === 0) {
  console.error(
    `No test file matches ${paths.join(', ') || 'this choice'}: give paths as "git ls-files" prints them.`,
  );
  process.exit(2);
}

const slow = files.filter((file) => file.endsWith('.slow.test.ts'));
const fast = files.filter((file) => !slow.includes(file));
const batches: Batch[] = [
  {
    files: fast.filter((file) => !file.startsWith('acceptance/')),
    concurrency: Math.max(2, availableParallelism()),
    fileMinutes: 10,
  },
  {
    files: fast.filter((file) => file.startsWith('acceptance/')),
    // Each starts a service, agents and tools, or a browser.
    concurrency: Math.max(2, availableParallelism() - 1),
    fileMinutes: 15,
  },
  // Some of them measure times, which others would change.
  { files: slow, concurrency: 1, fileMinutes: 40 },
];

const areClean = isSlow || paths.length > 0 || (await runChecks());
// One PostgreSQL for all test files of the server: starting one takes a second, cloning a database 25 ms.
await using database = files.some((file) => file.startsWith('server/')) ? await startTestServer() : undefined;
if (database) process.env[testServerVariable] = JSON.stringify(database.address);
const arePassed = await runTests(batches);
process.exitCode = areClean && arePassed ? 0 : 1;

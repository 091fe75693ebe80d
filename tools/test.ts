/**
 * `npm test [-- quick | slow | changed | path …]`: type check, lint and format check, then the tests.
 *
 *   (nothing)   all but files named *.slow.test.ts; at the same time builds the tools that tests need
 *   quick       also without acceptance/
 *   slow        only files named *.slow.test.ts, one at a time, without the checks
 *   changed     only test files that import what differs from main, without the checks
 *   path …      only test files whose path begins with one of these, without the checks; slow ones by their
 *               whole path, or with `slow`
 *
 * The last lines are the counts of all tests.
 */

import { availableParallelism } from 'node:os';

import { prepareDatabase, startTestServer, testServerVariable } from '../server/testing/database-server.ts';
import { runChecks } from './run-checks.ts';
import { abortOnSignals } from './suite/abort-on-signals.ts';
import { recordRun } from './suite/budget.ts';
import { changedFiles, testsReachedBy } from './suite/changed-files.ts';
import { choiceOf, chooseFiles, hasChecks, isWhole } from './suite/choose-files.ts';
import { recordDurations } from './suite/durations.ts';
import { readImportGraph } from './suite/import-graph.ts';
import { preparedDatabaseVariable } from './suite/prepared-database.ts';
import { runSuite } from './suite/run-suite.ts';
import { stagesOf } from './suite/stages.ts';
import { ToolBuilds, toolsAsTheyAre } from './suite/tool-builds.ts';
import { repositoryFiles } from './tree/repository.ts';

const choice = choiceOf(process.argv.slice(2));
const graph = readImportGraph();
const files = chooseFiles(
  choice,
  repositoryFiles().filter((file) => file.endsWith('.test.ts')),
  () => testsReachedBy(changedFiles(), graph),
);

if (files.length === 0) {
  console.error(
    choice.isChanged
      ? 'No test file imports what differs from main.'
      : `No test file matches ${choice.paths.join(', ') || 'this choice'}: give paths as "git ls-files" prints them.`,
  );
  process.exit(choice.isChanged ? 0 : 2);
}

const stages = stagesOf(files, graph);
const signal = abortOnSignals();
const tools = isWhole(choice)
  ? new ToolBuilds(
      stages.flatMap(({ jobs }) => jobs),
      console,
      signal,
    )
  : toolsAsTheyAre;
const areClean = !hasChecks(choice) || (await runChecks());
// One PostgreSQL for all test files of the server: starting one takes a second, cloning a database 25 ms.
await using database = files.some((file) => /^(server|tools\/claims)\//.test(file))
  ? await startTestServer()
  : undefined;
if (database) process.env[testServerVariable] = JSON.stringify(database.address);
// Most services of acceptance tests begin with a copy of a database that no one has used.
await using prepared = files.some((file) => file.startsWith('acceptance/'))
  ? await prepareDatabase()
  : undefined;
if (prepared) process.env[preparedDatabaseVariable] = prepared.folder;
const report = await runSuite(stages, { tools, signal });
recordDurations(report.durations);
if (tools instanceof ToolBuilds) {
  const builds = tools.built.length;
  recordRun({ seconds: report.seconds, processors: availableParallelism(), builds });
}
process.exitCode = areClean && report.isGood ? 0 : 1;

/**
 * Runs the test files of one job in this process, one after the other: each is imported inside a test of its name,
 * whose parts are the tests of the file. Hooks at the top level of a file are those of this test.
 */
import { resolve } from 'node:path';
import { mock, type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { root } from '../tree/repository.ts';
import { endFile } from './end-of-file.ts';
import { filesVariable } from './job.ts';

const files = JSON.parse(process.env[filesVariable] ?? '[]') as string[];
delete process.env[filesVariable];
const variables = process.env;
const environment = { ...variables };
const folder = process.cwd();

// All at once, of which one runs at a time: node calls the hooks of the process when no test is left to run.
await Promise.all(files.map((file) => test(file, (context) => runFile(file, context))));

async function runFile(file: string, context: TestContext): Promise<void> {
  try {
    await import(pathToFileURL(resolve(root, file)).href);
  } finally {
    // After the hooks of the file, which are called in their order.
    context.after(async () => {
      await endFile();
      restoreProcess();
    });
  }
}

/** Each file finds the process as if it were the first. */
function restoreProcess(): void {
  mock.reset();
  process.chdir(folder);
  // A file may have put an object of its own there.
  process.env = variables;
  for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name];
  Object.assign(process.env, environment);
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CustomServiceEnvironmentVariables } from '#contract/deployments/custom-variables.ts';
import { systemVariablesWith } from '../../server/testing/environment.ts';
import { repositoryFiles, textOf } from '../tree/repository.ts';

/** Names that are neither settings nor variables of runs, each with its reason. */
const others: Readonly<Record<string, string>> = {
  ENVARIUM_DEFAULT: 'the key of the built-in agent',
  ENVARIUM_HELM_SET_: 'begins the names of variables that are read from a chart (docs/use/repositories.md)',
  ENVARIUM_CF_PARAM_: 'begins the names of variables that are read from a stack (docs/use/repositories.md)',
};

/** Pages whose tables say what a variable of a run does. */
const runVariablePages = [
  'docs/use/run-variables.md',
  'docs/use/how-a-run-works.md',
  'docs/operate/providers.md',
  ...repositoryFiles().filter((file) => file.startsWith('docs/use/tools/')),
];

/** Names of environment variables that a text contains; a name that ends with `_` is the start of several. */
function namesIn(text: string): string[] {
  return Array.from(text.matchAll(/\bENVARIUM_[A-Z0-9_]+\b/g), ([name]) => name);
}

/** The names in the first column of a page's tables. */
function namesInTables(page: string): string[] {
  const rows = (textOf(page) ?? '').split('\n').filter((line) => line.startsWith('| `ENVARIUM_'));
  return rows.flatMap((row) => namesIn(row.split('|')[1] ?? ''));
}

function documentedRunVariables(): string[] {
  return runVariablePages.flatMap((page) => {
    const prose = page === 'docs/operate/providers.md' ? namesIn(textOf(page) ?? '') : [];
    return [...namesInTables(page), ...prose];
  });
}

/** The names that a run sees where a request specifies everything that it can. */
function systemVariableNames(): string[] {
  const keys = Object.keys(CustomServiceEnvironmentVariables.properties);
  return Object.keys(systemVariablesWith(Object.fromEntries(keys.map((key) => [key, '']))));
}

const known = new Set([
  // The page is generated from the settings.
  ...namesInTables('docs/operate/settings.md'),
  ...systemVariableNames(),
  ...documentedRunVariables(),
  ...Object.keys(others),
]);

const isKnown = (name: string) =>
  known.has(name) || (name.endsWith('_') && Array.from(known).some((one) => one.startsWith(name)));

test('every ENVARIUM_ name in a text is a setting or a documented variable of a run', () => {
  const files = repositoryFiles().filter(
    (file) =>
      (/\.(md|svg)$/.test(file) || (/\.(ts|mjs)$/.test(file) && !file.endsWith('.test.ts'))) &&
      !file.startsWith('acceptance/'),
  );
  assert.ok(known.size > 50);
  const wrong = files.flatMap((file) =>
    namesIn(textOf(file) ?? '')
      .filter((name) => !isKnown(name))
      .map((name) => `${file}: ${name}`),
  );
  assert.deepEqual(wrong, []);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readImportGraph } from './import-graph.ts';
import { neededTools } from './needed-tools.ts';

test('a test needs the tools that it names and those of the files that it imports', () => {
  const texts: Readonly<Record<string, string>> = {
    'a/one.test.ts': `withToolbox('opa'); const word = 'terragrunt-like';`,
    'a/cluster.ts': 'toolboxProgram("helm"); const text = `kustomize`;',
  };
  const needs = neededTools(
    new Map([
      ['a/one.test.ts', ['tools/toolbox/places.ts', 'a/stage.ts']],
      ['a/two.test.ts', ['a/stage.ts']],
      ['a/three.test.ts', ['a/other.ts']],
      ['a/stage.ts', ['a/cluster.ts']],
      ['a/cluster.ts', ['tools/toolbox/places.ts', 'a/stage.ts']],
    ]),
    (file) => texts[file] ?? '',
  );
  assert.deepEqual(Object.fromEntries([...needs].map(([file, tools]) => [file, [...tools].toSorted()])), {
    'a/one.test.ts': ['helm', 'kustomize', 'opa'],
    'a/two.test.ts': ['helm', 'kustomize'],
  });
});

test('most test files need no tool that has to be built', () => {
  const graph = readImportGraph();
  const tests = [...graph.keys()].filter((file) => file.endsWith('.test.ts'));
  const needs = neededTools(graph);
  assert.deepEqual(needs.get('acceptance/journey/helm.test.ts')?.has('helm'), true);
  assert.ok(needs.size > 0 && needs.size < tests.length / 4, `${needs.size} of ${tests.length}`);
});

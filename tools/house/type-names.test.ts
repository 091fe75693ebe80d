import assert from 'node:assert/strict';
import { test } from 'node:test';
import { repositoryFiles, textOf } from '../tree/repository.ts';

/** Names that each family declares for itself, because one place reads all of them. */
const perFamily = new Set(['Columns']);

/** Lower it with every name that becomes specific. */
const mostRepeatedNames = 5;

const isProgram = (file: string) =>
  /\.tsx?$/.test(file) && !/\.test\.tsx?$|\/testing\/|\/__fixtures__\//.test(file);

test('few names of types are declared in more than one file', () => {
  const declaredIn = new Map<string, Set<string>>();
  for (const file of repositoryFiles().filter(isProgram))
    for (const [, name = ''] of (textOf(file) ?? '').matchAll(/^(?:export )?(?:interface|type) (\w+)/gm)) {
      const files = declaredIn.get(name) ?? new Set();
      declaredIn.set(name, files.add(file));
    }
  const repeated = [...declaredIn].filter(([name, files]) => files.size > 1 && !perFamily.has(name));
  const list = repeated.map(([name, files]) => `${name}: ${[...files].join(', ')}`);
  assert.ok(
    repeated.length <= mostRepeatedNames,
    `${repeated.length} names instead of ${mostRepeatedNames}: name types after what they describe\n${list.join('\n')}`,
  );
});

/**
 * Adds a tool to a copy of the repository as docs/contribute/adding-a-tool.md says: a file of facts, a driver folder, and
 * one line in each of the lists below. Nothing else may need an edit for the copy to compile, to pass the
 * conformance suite, to plan and apply with the real runner, and to keep all rules.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { extendRepository, type ListEntry } from './testing/extended-copy.ts';

const entries: readonly ListEntry[] = [
  { file: 'contract/src/schema/template-types.ts', inserts: [["  'sham',\n", "  'opentofu',"]] },
  {
    file: 'protocol/src/tools/list.ts',
    inserts: [["export { sham } from './sham.ts';\n", 'export { terraform }']],
  },
  {
    file: 'agent/src/drivers/list.ts',
    inserts: [["export { sham } from './sham/driver.ts';\n", 'export { terraform }']],
  },
];

const copy = extendRepository('tools/sham-tool/', entries);
after(() => copy[Symbol.dispose]());

test('adding a tool edits three lists, one entry each', () => {
  assert.equal(entries.length, 3);
});

test('the copy with the tool compiles', () => {
  copy.node('tools/generate/generate.ts');
  copy.compile();
});

test('the copy keeps every rule of the house, and lint and format accept what was added', () => {
  copy.checkRules();
});

test('the driver of the tool passes the conformance suite, next to the others', () => {
  copy.node('--test', 'agent/src/drivers/conformance.test.ts', 'agent/src/drivers/damaged-output.test.ts');
});

test('the real runner plans, applies, repeats and destroys with the tool', () => {
  copy.node('--test', 'agent/src/drivers/sham/runs.test.ts');
});

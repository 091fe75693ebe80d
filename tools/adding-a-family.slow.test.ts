/**
 * Adds a family with a command and a page to a copy of the repository as docs/contribute/adding-a-family.md says: files,
 * and one entry in each of the lists below. Nothing else may need an edit for the copy to compile, to answer the family's
 * operations, to show its page, and to keep all rules.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { extendRepository, type ListEntry } from './testing/extended-copy.ts';

const entries: readonly ListEntry[] = [
  {
    file: 'contract/src/operations.ts',
    inserts: [
      ["import { operations as labels } from './labels/operations.ts';\n", 'import { operations as mcp }'],
      ['  ...labels,\n', '  ...system,'],
    ],
  },
  {
    file: 'server/src/families.ts',
    inserts: [
      [
        "import { family as labels } from './tenancy/labels/family.ts';\n",
        'import { family as organizations }',
      ],
      ['labels, ', 'organizations],'],
    ],
  },
  {
    file: 'cli/src/program.ts',
    inserts: [
      ["import { addLabelCommands } from './commands/labels/labels.ts';\n", 'import { addLoginCommand }'],
      ['  addLabelCommands,\n', '  addDoctorCommand,'],
    ],
  },
  {
    file: 'web/src/router.tsx',
    inserts: [
      [
        // In two parts: the house rules read it as an import of this file otherwise.
        `    page('/labels', () => ${'import'}('./pages/labels/LabelsPage.tsx'), 'LabelsPage', {
      group: 'Operation',
      name: 'Labels',
    }),\n`,
        "    page('/profile'",
      ],
    ],
  },
];

const copy = extendRepository('tools/sham-family/', entries);
after(() => copy[Symbol.dispose]());

test('adding a family edits four lists, one entry each', () => {
  assert.equal(entries.length, 4);
});

test('the generator adds the routes and the tables of the family, and the copy compiles', () => {
  copy.node('tools/generate/generate.ts');
  assert.match(copy.text('contract/src/routes.ts'), /getLabel: \['GET'/);
  assert.match(copy.text('server/src/rows/schema.ts'), /label: LabelTable;/);
  copy.compile();
});

test('the copy keeps every rule of the house, and lint and format accept what was added', () => {
  copy.checkRules();
});

test('the app answers the operations of the family, and its commands call them', () => {
  copy.node('--test', 'server/src/tenancy/labels/labels.test.ts', 'cli/src/commands/labels/labels.test.ts');
});

test('the tests of rights and of unusual values try the operations of the family', () => {
  copy.node(
    '--test',
    'server/src/framework/access/check-right.test.ts',
    'server/src/framework/http/unusual-values.test.ts',
  );
});

test('the navigation leads to the page of the family, which works', () => {
  copy.node('--test', 'acceptance/web/one-service/labels.test.ts');
});

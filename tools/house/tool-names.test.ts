import assert from 'node:assert/strict';
import { test } from 'node:test';
import { templateTypes } from '#contract/schema/template-types.ts';
import { tools } from '#protocol/tools/index.ts';
import { repositoryFiles, textOf } from '../tree/repository.ts';
import { isForTests } from './rooms.ts';

/** Files that may list all tools and describe each. */
const tellToolsApart = [
  'protocol/src/tools/',
  'agent/src/drivers/',
  'contract/src/templates/setting-rules.ts',
];

const products = /^(clouds|contract|protocol|settings|guards|agent|server|cli)\/src\/.*\.ts$/;

const names = [...templateTypes, ...Object.values(tools).map(({ program }) => program.name)];
const name = `['"\`](${[...new Set(names)].join('|')})['"\`]`;

/** A comparison with a tool's name, a case of it, or a table that has one as a key. */
const decidesByName = new RegExp(
  [
    `[=!]==?\\s*${name}`,
    `${name}\\s*[=!]==?`,
    `case ${name}`,
    `\\((${name})\\)`,
    `^\\s*(opentofu|tofu):`,
  ].join('|'),
);

const isExcepted = (line: string) => /\.default\(|\bType\.Literal\(/.test(line);

function wrongLines(): string[] {
  const files = repositoryFiles().filter(
    (file) =>
      products.test(file) && !isForTests(file) && !tellToolsApart.some((folder) => file.startsWith(folder)),
  );
  return files.flatMap((file) =>
    (textOf(file) ?? '')
      .split('\n')
      .flatMap((line, index) =>
        decidesByName.test(line) && !isExcepted(line) ? [`${file}:${index + 1} ${line.trim()}`] : [],
      ),
  );
}

test('nothing outside of facts and drivers decides by the name of a tool', () => {
  assert.deepEqual(wrongLines(), []);
});

test('the rule recognizes the ways in which code decides by a name', () => {
  for (const line of [
    "const field = tool === 'opentofu' ? 'a' : 'b';",
    "if ('helm' !== type) return;",
    "    case 'ansible':",
    "  tofu: ['version'],",
    "if (readers.includes('terraform')) {",
  ])
    assert.match(line, decidesByName);
  for (const line of ["const variable = 'terraform variable';", '  terraform: inputs.terraform,'])
    assert.doesNotMatch(line, decidesByName);
});

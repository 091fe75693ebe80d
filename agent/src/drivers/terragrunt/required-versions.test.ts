import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../../../../tools/suite/temporary-folder.ts';
import { toolboxProgram, withToolbox } from '../../../../tools/toolbox/places.ts';
import { requiredVersions } from './required-versions.ts';

type Files = Readonly<Record<string, string>>;

function reading(files: Files, folder: string, program = 'terragrunt') {
  const code = { list: async () => Object.keys(files), text: async (name: string) => files[name] ?? null };
  return requiredVersions({ program, code, folder });
}

const own = 'terragrunt_version_constraint';
const companion = 'terraform_version_constraint';
const including = (path: string) => `include "root" {\n  path = ${path}\n}\n`;

/** Each with the constraint that holds for the unit in live/app, and for which program. */
const layouts: readonly { name: string; files: Files; expected: string | undefined; attribute?: string }[] = [
  { name: 'of the unit', files: { 'live/app/terragrunt.hcl': `${own} = ">= 9"\n` }, expected: '>= 9' },
  {
    name: 'of the unit in JSON',
    files: { 'live/app/terragrunt.hcl.json': JSON.stringify({ [own]: '>= 9' }) },
    expected: '>= 9',
  },
  {
    name: 'of a file that is found above it',
    files: {
      'root.hcl': `${own} = ">= 9"\n`,
      'live/app/terragrunt.hcl': including('find_in_parent_folders("root.hcl")'),
    },
    expected: '>= 9',
  },
  {
    name: 'of a file of the usual name above it',
    files: {
      'live/terragrunt.hcl': `${own} = ">= 9"\n`,
      'live/app/terragrunt.hcl': 'include {\n  path = find_in_parent_folders()\n}\n',
    },
    expected: '>= 9',
  },
  {
    name: 'of a file at a path',
    files: { 'common.hcl': `${own} = ">= 9"\n`, 'live/app/terragrunt.hcl': including('"../../common.hcl"') },
    expected: '>= 9',
  },
  {
    name: 'of the unit instead of the file that it includes',
    files: {
      'root.hcl': `${own} = ">= 9"\n`,
      'live/app/terragrunt.hcl': `${own} = ">= 1.0"\n${including('find_in_parent_folders("root.hcl")')}`,
    },
    expected: '>= 1.0',
  },
  {
    name: 'of a file that one of two blocks includes, the other of which has no label',
    files: {
      'root.hcl': `${own} = ">= 9"\n`,
      'common.hcl': '',
      'live/app/terragrunt.hcl': `${including('"../../common.hcl"').replace(' "root"', '')}${including('find_in_parent_folders("root.hcl")')}`,
    },
    expected: '>= 9',
  },
  {
    name: 'for the program that it runs',
    files: {
      'root.hcl': `${companion} = ">= 9"\n`,
      'live/app/terragrunt.hcl': including('find_in_parent_folders("root.hcl")'),
    },
    expected: '>= 9',
    attribute: companion,
  },
  { name: 'of nobody', files: { 'live/app/terragrunt.hcl': 'locals {}\n' }, expected: undefined },
];

for (const { name, files, expected, attribute = own } of layouts)
  test(
    `the constraint ${name} is read, and it is the one that terragrunt enforces`,
    withToolbox('terragrunt', 'opentofu'),
    async (t) => {
      const found = await reading(files, 'live/app', attribute === own ? 'terragrunt' : 'tofu');
      assert.deepEqual(
        found.map((one) => [one.constraint, one.attribute]),
        expected === undefined ? [] : [[expected, attribute]],
      );
      assert.deepEqual(await reading(files, 'live/app', attribute === own ? 'tofu' : 'terragrunt'), []);
      const folder = temporaryFolder(t, 'terragrunt-');
      for (const [file, text] of Object.entries({ ...files, 'live/app/main.tf': '' })) {
        mkdirSync(dirname(join(folder, file)), { recursive: true });
        writeFileSync(join(folder, file), text);
      }
      const { stderr, status } = spawnSync(toolboxProgram('terragrunt')!, ['plan'], {
        cwd: join(folder, 'live', 'app'),
        env: { PATH: '/usr/bin:/bin', HOME: folder, TG_TF_PATH: toolboxProgram('opentofu')! },
        encoding: 'utf8',
      });
      const enforced = /not compatible with the version .*requir\w+ \((.*)\)/.exec(stderr)?.[1];
      assert.equal(enforced, expected === '>= 9' ? expected : undefined, stderr);
      assert.equal(status === 0, enforced === undefined, stderr);
    },
  );

test('a folder of units has the constraint of the nearest configuration above or in it', async () => {
  const root = `${own} = ">= 1.0"\n`;
  assert.equal((await reading({ 'root.hcl': root }, ''))[0]?.file, 'root.hcl');
  assert.equal(
    (await reading({ 'root.hcl': root, 'live/app/terragrunt.hcl': '' }, 'live'))[0]?.file,
    'root.hcl',
  );
  assert.equal((await reading({ 'terragrunt.hcl': root }, 'live/eu'))[0]?.file, 'terragrunt.hcl');
  assert.deepEqual(await reading({}, 'live/eu'), []);
});

test('what only terragrunt can evaluate is not guessed, and nothing outside of the repository is read', async () => {
  const path = 'live/app/terragrunt.hcl';
  const computed = await reading({ [path]: `${own} = ">= \${local.least}"\n` }, 'live/app');
  assert.deepEqual(computed, [{ file: path, constraint: null, attribute: own }]);
  for (const include of [
    'local.path',
    '"${get_parent_terragrunt_dir()}/a.hcl"',
    '"../../../a.hcl"',
    '"/etc/a.hcl"',
  ])
    assert.deepEqual(await reading({ [path]: including(include) }, 'live/app'), [], include);
});

test('a file that does not parse here ends no run, and its constraint is found in its text', async () => {
  const path = 'live/app/terragrunt.hcl';
  const constraint = `${own} = ">= 9"\n`;
  const [found] = await reading({ [path]: `${constraint}inputs = {` }, 'live/app');
  assert.deepEqual(found, { file: path, constraint: '>= 9', attribute: own });
  assert.deepEqual(await reading({ [path]: `${own} = "` }, 'live/app'), []);
});

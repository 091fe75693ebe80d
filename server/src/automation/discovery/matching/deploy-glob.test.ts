import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { compileGlob } from './compile-glob.ts';
import { deployGlobFor } from './deploy-glob.ts';

for (const [glob, folder, expected] of [
  ['${envarium_template_dir_path}/**', 'a/b', 'a/b/**'],
  ['**/${envarium_template_dir_name}.yml', 'a/b', '**/b.yml'],
  ['+(x|${envarium_template_dir_ancestors})', 'a/b', '+(x|a/*|a/b/*)'],
  ['${envarium_template_dir_ancestors}', 'a/b', '@(a/*|a/b/*)'],
  [String.raw`\(${'${envarium_template_dir_ancestors}'}`, 'a', String.raw`\(@(a/*)`],
  [
    '+((common/${envarium_template_dir_name}/**)|(${envarium_template_dir_path}/**)|${envarium_template_dir_ancestors})',
    'non-prod/dev/db',
    '+((common/db/**)|(non-prod/dev/db/**)|non-prod/*|non-prod/dev/*|non-prod/dev/db/*)',
  ],
  ['${envarium_template_dir_path}/**', '', '**'],
  ['x/${envarium_template_dir_name}/*', '', 'x/*'],
  ['+(${envarium_template_dir_ancestors})', '', '+(*)'],
  ['${other}/${envarium_template_dir}', 'a', '${other}/${envarium_template_dir}'],
  ['**/*.tf', 'a', '**/*.tf'],
  ['${envarium_template_dir_path}/*', 'a(b)/[c]', String.raw`a\(b\)/\[c\]/*`],
  ['${envarium_template_dir_path}/*', '$&', String.raw`\$&/*`],
] as const)
  test(`variables of a glob are replaced: ${glob} for ${JSON.stringify(folder)}`, () => {
    assert.equal(deployGlobFor(glob, folder), expected);
  });

test('a folder with any characters matches its own files, and no others', () => {
  const segment = fc
    .string({
      unit: fc.constantFrom(...'ab1-_ !(+*?@[]{}|,.\\^$"\'~=:<>&%#'.split('')),
      minLength: 1,
      maxLength: 6,
    })
    .filter((text) => !/^\.{1,2}$/.test(text));
  fc.assert(
    fc.property(fc.array(segment, { minLength: 1, maxLength: 3 }), segment, (segments, other) => {
      const folder = segments.join('/');
      const isMatch = compileGlob(deployGlobFor('${envarium_template_dir_path}/x.tf', folder));
      assert.ok(isMatch(`${folder}/x.tf`), folder);
      assert.ok(!isMatch(`${folder}${other}/x.tf`), `${folder} ${other}`);
      assert.ok(!isMatch(`${folder}/${other}/x.tf`), `${folder} ${other}`);
    }),
    { numRuns: 1000 },
  );
});

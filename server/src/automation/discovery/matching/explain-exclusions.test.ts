import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { compileGlob } from './compile-glob.ts';
import { explainExclusions } from './explain-exclusions.ts';

const name = fc.constantFrom('prod', 'dev', 'test', 'modules');
const names = fc.uniqueArray(name, { minLength: 1, maxLength: 3 });

test('a file is explained by an alternative that excludes it, and never by another one', () => {
  fc.assert(
    fc.property(names, names, name, name, (first, second, outer, inner) => {
      const globPattern = `!(${first.join('|')})/!(${second.join('|')})/main.tf`;
      const file = `${outer}/${inner}/main.tf`;
      const [explanation] = explainExclusions(globPattern, [[file]]);
      const [byFirst, bySecond] = [first.includes(outer), second.includes(inner)];
      assert.equal(compileGlob(globPattern)(file), !byFirst && !bySecond);
      if (byFirst === bySecond) return;
      const [list, part] = byFirst ? [first, outer] : [second, inner];
      const negation = `"!(${list.join('|')})"`;
      const expected =
        list.length === 1
          ? `${negation} in globPattern excludes ${file}`
          : `"${part}" in ${negation} of globPattern excludes ${file}`;
      assert.deepEqual(explanation, { file, reason: expected });
    }),
  );
});

test('of the files of a folder, one that is excluded explains more than one that nothing matches', () => {
  const files = ['modules/a.tf', 'modules/main.tf'];
  assert.deepEqual(explainExclusions('!(modules)/main.tf', [files]), [
    { file: 'modules/main.tf', reason: '"!(modules)" in globPattern excludes modules/main.tf' },
  ]);
});

test('parentheses inside of a negation, and escaped ones, belong to it', () => {
  for (const [globPattern, part] of [
    ['!(@(a|b)|c)/main.tf', '"@(a|b)" in "!(@(a|b)|c)" of'],
    [String.raw`!(\(x\)|b)/main.tf`, String.raw`"b" in "!(\(x\)|b)" of`],
    [String.raw`\!(b)/main.tf`, 'no alternative of'],
  ] as const)
    assert.ok(explainExclusions(globPattern, [['b/main.tf']])[0]?.reason.startsWith(part), globPattern);
});

test('any glob that can be used is explained without an exception', () => {
  const piece = fc.constantFrom(
    '!(',
    '+(',
    '@(',
    ')',
    '|',
    'a',
    'b',
    '/',
    '*',
    '**',
    '.',
    '\\',
    '{',
    '}',
    ',',
    '!',
  );
  fc.assert(
    fc.property(fc.array(piece, { minLength: 1, maxLength: 15 }), (pieces) => {
      const globPattern = pieces.join('');
      const [explanation] = explainExclusions(globPattern, [['a/b.tf']]);
      assert.equal(explanation?.file, 'a/b.tf');
      assert.match(explanation.reason, /a\/b\.tf/);
    }),
    { numRuns: 1000 },
  );
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { compileGlob } from './compile-glob.ts';
import { globRefusal } from './glob-refusal.ts';

for (const [globPattern, reason] of [
  ['', /^must not be empty$/],
  ['a'.repeat(10_001), /^must not have more than 10000 characters$/],
  [`+(${Array.from({ length: 10_000 }, (_, index) => index).join('|')})`, /more than 10000 characters/],
  ['+(a | b)', /^must not contain blanks or line breaks: separate alternatives by "\|"/],
  ['a\nb', /^must not contain blanks or line breaks/],
  ['a\u0007b', /^must not contain control characters$/],
  ['/prod/**', /^must not begin with "\/"/],
  ['../**', /^must not contain "\.\."/],
  ['a/../b', /^must not contain "\.\."/],
  ['+(a|..)/b', /^must not contain "\.\."/],
  ['{..,a}/b', /^must not contain "\.\."/],
  ['a/..', /^must not contain "\.\."/],
  ['+(a|b', /^is not a valid glob: Missing closing: "\)"/],
  ['{a,b', /^is not a valid glob: Missing closing: "\}"/],
  ['[a', /^is not a valid glob: Missing closing: "\]"/],
  ['a/{1..5000}', /^is not a valid glob: \{1\.\.5000\} stands for more than 1000 values$/],
  ['(?<a>b)(?<a>c)', /^is not a valid glob: Duplicate capture group name$/],
  [`${'{1..'.repeat(400)}2${'}'.repeat(400)}`, /^is (?:not a valid glob|too complex): /],
] as const)
  test(`a glob is refused with its reason: ${JSON.stringify(globPattern.slice(0, 30))}`, async () => {
    assert.match((await globRefusal(globPattern)) ?? 'null', reason);
  });

test('globs that the documentation shows are accepted', async () => {
  for (const globPattern of [
    '**/main.tf',
    'src/prod/**/*.tf',
    '+(prod/**/main.tf|dev/**/main.tf)',
    '!(prod/us-east-1/**)+(dev/us-east-1/**|dev/us-west-2/main.tf)',
    '+((prod/**/main.tf)|(dev/**/main.tf))',
    'env{1..12}/main.tf',
    'a..b/main.tf',
    '.../x',
    `+(${Array.from({ length: 1000 }, (_, index) => `f${index}`).join('|')})/main.tf`,
  ])
    assert.equal(await globRefusal(globPattern), null, globPattern);
});

function matches(globPattern: string, paths: readonly string[]): string[] {
  return paths.filter(compileGlob(globPattern));
}

test('alternatives that end with ** match all levels, wherever they are in the list', () => {
  const paths = ['dev/a/b.tf', 'dev/b.tf', 'prod/a/b.tf', 'test/a.tf'];
  for (const globPattern of ['+(dev/**|prod/**)', '@(prod/**|dev/**|x)', '!(test/**|x)', 'dev/**|prod/**'])
    assert.deepEqual(matches(globPattern, paths), paths.slice(0, 3), globPattern);
});

test('ranges stand for each of their values', () => {
  const paths = ['e1', 'e01', 'e2', 'e10', 'e12', 'e13', 'ea', 'ec'].map((name) => `${name}/main.tf`);
  const names = (globPattern: string) =>
    matches(`${globPattern}/main.tf`, paths).map((path) => path.slice(1, -8));
  assert.deepEqual(names('e{1..12}'), ['1', '2', '10', '12']);
  assert.deepEqual(names('e{12..1}'), ['1', '2', '10', '12']);
  assert.deepEqual(names('e{01..12}'), ['01', '10', '12']);
  assert.deepEqual(names('e{0..12..2}'), ['2', '10', '12']);
  assert.deepEqual(names('e{a..c}'), ['a', 'c']);
});

test('any text is refused or compiled, and never throws', async () => {
  const piece = fc.constantFrom(...'!(+*?@[]{}|,./\\^$"a1-'.split(''), '**', '!(', '+(', '{1..3}', '(?');
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 40 }), async (pieces) => {
      const globPattern = pieces.join('');
      if ((await globRefusal(globPattern)) === null) compileGlob(globPattern);
    }),
    { numRuns: 2000 },
  );
});

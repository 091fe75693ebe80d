import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { repositoryFiles, textOf } from '../tree/repository.ts';

/** Files that may hold a pattern below, with the reason. */
const exceptions: Readonly<Record<string, string>> = {
  LICENSE: 'the text is not ours',
};

const texts = repositoryFiles()
  .filter((file) => !(file in exceptions) && !file.includes('__fixtures__/'))
  .map((file) => ({ file, text: textOf(file) ?? '' }));

/** Lines that match, as `file:line`. */
function linesWith(pattern: RegExp, among = texts): string[] {
  return among.flatMap(({ file, text }) =>
    text.split('\n').flatMap((line, index) => (pattern.test(line) ? [`${file}:${index + 1}`] : [])),
  );
}

test('no path of one particular machine', () => {
  assert.deepEqual(linesWith(/(?<![\w.}\\*-])\/(work|workspace|workspaces)\/[\w.]/), []);
  // Tests may make up a person's home folder.
  const product = texts.filter(({ file }) => !file.endsWith('.test.ts'));
  assert.deepEqual(linesWith(/(?<![\w.}\\-])\/root(?![\w-])/, product), []);
  assert.deepEqual(linesWith(/(?<![\w.}\\-])\/(home|Users)\/[a-z]/, product), []);
});

test('no host that packages of one particular machine come from', () => {
  assert.deepEqual(linesWith(/registry\.(npmjs|yarnpkg)\./), []);
  assert.deepEqual(
    linesWith(/\b(npm|pypi|goproxy|artifactory|nexus)\.[a-z0-9.-]+\.(internal|local|corp|lan)\b/),
    [],
  );
});

test('nothing is left to do in a comment', () => {
  assert.deepEqual(
    linesWith(new RegExp(`\\b(${['TO', 'DO'].join('')}|${['FIX', 'ME'].join('')}|XX${'X'})\\b`)),
    [],
  );
});

const questionWord = /^(\s*)(\/\*\*|\*|\/\/|\{\/\*) (?:What|Where|How|Who|Whom|Whose|Which)\b/;

test('a comment begins with a noun or a verb: what it describes, or what that does', () => {
  const wrong = texts
    .filter(({ file }) => /\.(?:tsx?|mjs)$/.test(file))
    .flatMap(({ file, text }) => {
      const lines = text.split('\n');
      return lines.flatMap((line, index) => {
        const mark = questionWord.exec(line)?.[2];
        const before = lines[index - 1]?.trim() ?? '';
        const isFirst = mark === '*' ? before === '/**' : mark !== '//' || !before.startsWith('//');
        return mark !== undefined && isFirst ? [`${file}:${index + 1}`] : [];
      });
    });
  assert.deepEqual(wrong, [], 'CONTRIBUTING.md, "Comments"');
});

/** SHA-256, first 16 digits, of lower-case words that name a maker of tools instead of the product. */
const unwanted = new Set([
  '3ea125d0bff386e6',
  '57de4cf40144bdf7',
  '60965168ce762e94',
  '7d3194f79e645c42',
  'c70eca6b0f88f44d',
  'c857d09db23e6822',
]);

test('no word that names who or what typed the text', () => {
  const digest = (word: string) => createHash('sha256').update(word).digest('hex').slice(0, 16);
  const words = new Map<string, string>();
  for (const { file, text } of texts)
    for (const [word] of text.toLowerCase().matchAll(/[a-z]{5,12}/g)) words.set(word, file);
  const wrong = Array.from(words).filter(([word]) => unwanted.has(digest(word)));
  assert.deepEqual(wrong, []);
});

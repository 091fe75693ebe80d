import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allowedLines, findings, habits, insteadOf, listed, roomOf } from './english.ts';

/** Lines of this length are enough to find one's own: those of the files that changed last come first. */
const shownLines = 40;

for (const [room, found] of Map.groupBy(findings(), ({ file }) => roomOf(file)))
  test(`the texts of ${room} have no more phrases that read as a translation than before`, () => {
    const allowed = allowedLines().get(room) ?? 0;
    const shown = listed(found).split('\n').slice(0, shownLines).join('\n');
    assert.ok(
      found.length <= allowed,
      `${found.length} lines, ${allowed} allowed (CONTRIBUTING.md, "English"; all of them: npm run english -- ${room}):\n${shown}`,
    );
  });

test('each habit is found, and its idiomatic neighbour is not', () => {
  const wrong = [
    'x is no number',
    'the address is none',
    'she holds the lock since noon',
    'ends by itself',
    'made anew',
    'kept for ever',
    'not more than so many',
    'Whoever asks waits',
    'change settings; what is not given stays',
    'as the caller was told',
    'the version that is asked for',
    'how often drift is looked for',
    'its life ended',
    'an agent beside it',
    'the reason stands in the log',
    'the file lies below the folder',
    'the run goes on',
    'bring that back first',
    'from where it is fetched',
    'it cannot be had',
    'not set: from there',
    'until it is freed',
    'takes no more requests',
    'no index in reach',
    'shows what came of it',
    'what a policy said of late',
  ];
  assert.deepEqual(
    wrong.filter((line) => insteadOf(line) === undefined),
    [],
  );
  const unused = habits.filter(({ pattern }) => !wrong.some((line) => pattern.test(line)));
  assert.deepEqual(unused, []);
  const right = [
    'there is no number',
    'it is no longer used, and there are no more than two',
    'so many that the list is cut',
    'the life cycle of a deployment',
    'the template that stands in for it',
    'What is measured',
  ];
  assert.deepEqual(
    right.filter((line) => insteadOf(line) !== undefined),
    [],
  );
});

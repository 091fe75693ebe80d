import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { Job } from './job.ts';
import { joinJobs } from './stages.ts';

interface Options extends Partial<Pick<Job, 'minutes'>> {
  /** Expected duration of each file; default: the same for all. */
  readonly seconds?: readonly number[];
  /** Expression of the tools that jobs wait for. */
  readonly tools?: string;
  /** Whether the files share a process. */
  readonly isShared?: boolean;
  /** Tools that each file needs. */
  readonly needs?: readonly Job['tools'][];
}

/**
 * Runs test files with these contents, one after the other, in a process of its own: the runner refuses to run
 * inside a test.
 */
function runFiles(t: TestContext, contents: readonly string[], options: Options = {}) {
  const { minutes = 1, seconds = [], needs = [], tools = 'undefined', isShared = false } = options;
  const folder = mkdtempSync(join(tmpdir(), 'envarium tests '));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const single = contents.map((content, index): Job => {
    const file = join(folder, `file-${index}.test.mjs`);
    writeFileSync(file, `import assert from 'node:assert';\nimport { test } from 'node:test';\n${content}\n`);
    return { files: [file], tools: needs[index] ?? [], seconds: seconds[index] ?? 1, minutes };
  });
  const jobs = isShared ? joinJobs(single) : single;
  const module = pathToFileURL(join(import.meta.dirname, 'run-suite.ts')).href;
  const script = join(folder, 'run.ts');
  writeFileSync(
    script,
    `import { runSuite } from '${module}';
    const report = await runSuite([${JSON.stringify({ jobs, concurrency: 1 })}], { tools: ${tools} });
    console.log(report.isGood);`,
  );
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const { stdout } = spawnSync(process.execPath, [script], { env, encoding: 'utf8' });
  const lines = stdout.trimEnd().split('\n');
  return { lines, isGood: lines.at(-1) === 'true', counts: lines.slice(-9, -2) };
}

/** Names of tests in the order in which they ended. */
const passedTests = (lines: readonly string[]) =>
  lines.flatMap((line) => /^✔ (\S+)/.exec(line)?.slice(1) ?? []);

test('the counts of all files come last, as one sum', (t) => {
  const { counts, isGood } = runFiles(t, [
    `test('one', () => {});`,
    `test('two', () => {}); test('three', { skip: 'no such tool' }, () => {});`,
  ]);
  assert.deepEqual(counts, [
    'ℹ tests 3',
    'ℹ suites 0',
    'ℹ pass 2',
    'ℹ fail 0',
    'ℹ cancelled 0',
    'ℹ skipped 1',
    'ℹ todo 0',
  ]);
  assert.equal(isGood, true);
});

test('suites, cancelled tests and tests to do are counted as the runner of node does', (t) => {
  const { counts, isGood } = runFiles(t, [
    `import { describe } from 'node:test';
    describe('suite', () => { test('one', () => {}); test('two', { todo: true }, () => assert.fail()); });
    test('late', { timeout: 10 }, () => new Promise((resolve) => setTimeout(resolve, 60_000).unref()));`,
  ]);
  assert.deepEqual(counts, [
    'ℹ tests 3',
    'ℹ suites 1',
    'ℹ pass 1',
    'ℹ fail 0',
    'ℹ cancelled 1',
    'ℹ skipped 0',
    'ℹ todo 1',
  ]);
  assert.equal(isGood, false);
});

test('every reason to skip is printed with the files and the number of their tests', (t) => {
  const { lines } = runFiles(t, [
    `test('one', { skip: 'no such tool' }, () => {}); test('two', (t) => t.skip('found out late'));`,
    `for (const name of ['three', 'four']) test(name, { skip: 'no such tool' }, () => {});`,
  ]);
  assert.match(
    lines.join('\n'),
    /Skipped:\n {2}no such tool\n {4}.*file-0\.test\.mjs: 1 test\n {4}.*file-1\.test\.mjs: 2 tests\n {2}found out late\n/,
  );
  assert.match(lines.join('\n'), /\nHow to install missing programs: CONTRIBUTING\.md/);
});

test('a failure in any file fails the whole, and is printed again at the end', (t) => {
  const { counts, lines, isGood } = runFiles(t, [
    `test('one', () => assert.equal(1, 2));`,
    `test('two', () => {});`,
  ]);
  assert.deepEqual([counts[2], counts[3], isGood], ['ℹ pass 1', 'ℹ fail 1', false]);
  const repeated = lines.findIndex((line) => line.includes('failing tests:'));
  assert.ok(repeated > lines.findIndex((line) => line.startsWith('✔ two')));
});

test('a file that does not load fails', (t) => {
  const { isGood } = runFiles(t, [`import './no-such-file.ts';`]);
  assert.equal(isGood, false);
});

test('a file that never ends is ended and fails', (t) => {
  const { lines, isGood } = runFiles(t, [`test('one', () => {}); setInterval(() => {}, 1000);`], {
    minutes: 0.01,
  });
  assert.equal(isGood, false);
  assert.match(lines.join('\n'), /Ended after 0\.01 minutes; still open: .*Timeout/);
});

test('the file that is expected to take longest begins first', (t) => {
  const { lines } = runFiles(
    t,
    ['one', 'two', 'three'].map((name) => `test('${name}', () => {});`),
    { seconds: [2, 1, 3] },
  );
  assert.deepEqual(passedTests(lines), ['three', 'one', 'two']);
});

test('the files that took longest are printed', (t) => {
  const slow = `test('slow', () => new Promise((resolve) => setTimeout(resolve, 300)));`;
  const { lines } = runFiles(t, [`test('quick', () => {});`, slow]);
  assert.match(
    lines.join('\n'),
    /Longest files:\n {2}.*file-1\.test\.mjs: 0\.\d s\n {2}.*file-0\.test\.mjs:/,
  );
});

test('a file waits for its tool while others run, however long it takes itself', (t) => {
  const { lines, isGood } = runFiles(
    t,
    ['one', 'two', 'three'].map((name) => `test('${name}', () => {});`),
    {
      seconds: [3, 2, 1],
      needs: [['opa'], ['helm'], []],
      // helm comes after half a second, opa another half later.
      tools: `(() => {
        const missing = ['opa', 'helm'];
        let next = Promise.withResolvers();
        const settle = () => {
          missing.pop();
          next.resolve();
          next = Promise.withResolvers();
        };
        setTimeout(settle, 500);
        setTimeout(settle, 1000);
        return { isSettled: (name) => !missing.includes(name), nextSettled: () => next.promise };
      })()`,
    },
  );
  assert.deepEqual(passedTests(lines), ['three', 'two', 'one']);
  assert.equal(isGood, true);
});

test('a test learns which tools it may use', (t) => {
  const { isGood } = runFiles(
    t,
    [`test('one', () => assert.deepEqual(JSON.parse(process.env.TEST_TOOLS), ['opa']));`],
    { needs: [['opa']] },
  );
  assert.equal(isGood, true);
});

const twoFiles = [
  `import { after, before, describe } from 'node:test';
  const seen = [];
  process.env.LEFT_BY_A_FILE = process.env.PATH = 'changed';
  process.env = { ...process.env, OF_ANOTHER_OBJECT: 'set' };
  process.chdir('/');
  before(() => seen.push('before'));
  after(() => console.log('end of the first file after ' + seen.join(' and ')));
  test('one', () => seen.push('one'));
  describe('two', () => { test('three', () => {}); });`,
  `test('four', () => {
    console.log('in the second file');
    assert.equal(process.env.LEFT_BY_A_FILE, undefined);
    assert.equal(process.env.OF_ANOTHER_OBJECT, undefined);
    assert.notEqual(process.env.PATH, 'changed');
    assert.notEqual(process.cwd(), '/');
  });
  test('five', { skip: 'no such tool' }, () => {});`,
];

test('files that share a process count and end as if each had one of its own', (t) => {
  const [apart, together] = [false, true].map((isShared) => runFiles(t, twoFiles, { isShared }));
  assert.deepEqual(together?.counts, apart?.counts);
  assert.equal(together?.isGood, true);
  const text = together?.lines.join('\n') ?? '';
  assert.match(text, /^▶ two\n {2}✔ three/m);
  assert.match(text, /end of the first file after before and one[^]*in the second file/);
  assert.match(text, /Longest files:\n.*file-\d\.test\.mjs: .*\n.*file-\d\.test\.mjs: /);
});

test('what files share is closed after the last of them, and what one opened at its own end', (t) => {
  const endOfFile = pathToFileURL(join(import.meta.dirname, 'end-of-file.ts')).href;
  const contents = ['first', 'second'].map(
    (name) => `import { atEndOfFile, atEndOfProcess } from ${JSON.stringify(endOfFile)};
      const close = (what) => async () => {
        await new Promise((resolve) => setTimeout(resolve, 50));
        console.log('closed: ' + what);
      };
      test('uses something', () => {
        atEndOfFile(close('${name} file'));
        atEndOfProcess(close('shared by ${name}'));
      });`,
  );
  const { lines, isGood } = runFiles(t, contents, { isShared: true });
  assert.equal(isGood, true);
  assert.deepEqual(lines.join('\n').match(/(?<=closed: ).*/g), [
    'first file',
    'second file',
    'shared by second',
    'shared by first',
  ]);
});

test('a file that does not load fails, and those that share its process run', (t) => {
  const { counts, lines, isGood } = runFiles(
    t,
    [`import './no-such-file.ts';`, `test('one', () => {}); test('two', () => assert.fail('wrong'));`],
    { isShared: true },
  );
  assert.deepEqual([counts[0], counts[2], counts[3], isGood], ['ℹ tests 3', 'ℹ pass 1', 'ℹ fail 2', false]);
  assert.match(lines.join('\n'), /✖ .*file-0\.test\.mjs \([^]*ERR_MODULE_NOT_FOUND/);
});

test('a process that ends too early is a failure of the files that it has not finished', (t) => {
  const { lines, isGood } = runFiles(
    t,
    [
      `test('one', () => {});`,
      `test('two', () => new Promise(() => setTimeout(() => process.exit(3), 500)));`,
      `test('three', () => {});`,
    ],
    { isShared: true },
  );
  assert.equal(isGood, false);
  assert.match(lines.join('\n'), /failing tests:[^]*✖ \/[^,]*file-1\.test\.mjs, [^,]*file-2\.test\.mjs \(/);
});

test('files share a process up to a limit of time, and only with the same tools', () => {
  const job = (file: string, seconds: number, ...tools: Job['tools']): Job => ({
    ...{ files: [file], tools, seconds, minutes: 1 },
  });
  const jobs = [
    job('a', 20),
    job('b', 30, 'opa'),
    job('c', 10),
    job('d', 15),
    job('e', 90),
    job('f', 9, 'opa'),
  ];
  assert.deepEqual(
    joinJobs(jobs, 40).map(({ files, seconds }) => [files.join(), seconds]),
    [
      ['a,c', 30],
      ['d', 15],
      ['e', 90],
      ['b,f', 39],
    ],
  );
});

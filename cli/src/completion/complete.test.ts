import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { temporaryFolder } from '../../../tools/suite/temporary-folder.ts';
import { fakeEnvironment, runAgainst } from '../../testing/fake-service.ts';
import { createProgram } from '../program.ts';
import { type AskNames, complete } from './complete.ts';
import { splitLine } from './split-line.ts';

const names: Readonly<Record<string, readonly string[]>> = {
  environments: ['web', 'web two'],
  projects: ['Shop'],
  agents: ['EAST'],
};
const ask: AskNames = (kind) =>
  Promise.resolve((names[kind] ?? []).map((value) => ({ value, description: '' })));

async function values(line: string): Promise<string[]> {
  const words = splitLine(line).slice(1);
  const candidates = await complete(
    createProgram(),
    words.map(({ text }) => text),
    ask,
  );
  return candidates.map(({ value }) => value);
}

test('commands are completed, also after an alias, except hidden ones', async () => {
  assert.deepEqual(await values('envarium env'), ['environment']);
  assert.deepEqual(await values('envarium env l'), ['list', 'lock', 'locks']);
  assert.ok((await values('envarium ')).includes('doctor'));
  assert.deepEqual(await values('envarium __'), []);
});

test('options of the command and shared options are completed', async () => {
  assert.deepEqual(await values('envarium deploy web --ta'), ['--target']);
  assert.deepEqual(await values('envarium state list web --js'), ['--json']);
  assert.deepEqual(await values('envarium task web -- --ta'), [], 'words after -- are not completed');
});

test('values of an option are completed in both of its forms', async () => {
  assert.deepEqual(await values('envarium deploy --type pr'), ['prPlan']);
  assert.deepEqual(await values('envarium deploy --type=pr'), ['--type=prPlan']);
  assert.deepEqual(await values('envarium deployments list web --status IN'), [
    'IN_PROGRESS',
    'INTERNAL_FAILURE',
  ]);
  assert.deepEqual(await values('envarium completion z'), ['zsh']);
  assert.deepEqual(await values('envarium deploy web --comment '), [], 'free text');
});

test('names of environments, projects and agents are completed', async () => {
  assert.deepEqual(await values('envarium deploy w'), ['web', 'web two']);
  assert.deepEqual(await values('envarium logs -e "web t'), ['web two']);
  assert.deepEqual(await values('envarium environment move web '), ['Shop']);
  assert.deepEqual(await values('envarium environment list --project=S'), ['--project=Shop']);
  assert.deepEqual(await values('envarium agent secret '), ['EAST']);
  assert.deepEqual(await values('envarium deploy web '), [], 'there is no second operand');
});

test('a line is split as a shell does it, including unfinished words', () => {
  const texts = (line: string) => splitLine(line).map(({ text }) => text);
  assert.deepEqual(texts(`a 'b c' "d \\" e" f\\ g `), ['a', 'b c', 'd " e', 'f g', '']);
  assert.deepEqual(splitLine(`a 'b`).at(-1), { text: 'b', quote: "'" });
  assert.deepEqual(texts(''), ['']);
});

/** @returns what bash gets to complete a line with, where environments have these names */
async function bashGets(t: TestContext, line: string, ...environments: readonly string[]): Promise<string> {
  const replies = { 'GET /environments': environments.map((name) => fakeEnvironment({ name })) };
  const env = { XDG_CACHE_HOME: temporaryFolder(t, 'names-') };
  return (await runAgainst(['__complete', 'bash', line], replies, { env })).stdout;
}

test('bash gets nothing inside an open quote that it would not take literally', async (t) => {
  const hostile = ['we$(id)', 'we`id`', 'we"; id; "', 'we\\', 'we!!'];
  for (const name of hostile) assert.equal(await bashGets(t, 'envarium deploy "we', name), '', name);
  assert.equal(await bashGets(t, "envarium deploy 'we", ...hostile), `${hostile.join('\n')}\n`);
  assert.equal(await bashGets(t, "envarium deploy 'we", "we'; id; '"), '');
  assert.equal(await bashGets(t, 'envarium deploy "we', "we're two"), "we're two\n");
});

test('bash gets only the part after the last = or : of a word', async (t) => {
  assert.equal(await bashGets(t, 'envarium deploy we', 'web two'), 'web\\ two\n');
  assert.equal(await bashGets(t, 'envarium deploy "we', 'web two'), 'web two\n');
  assert.equal(await bashGets(t, 'envarium deploy --type=pr'), 'prPlan\n');
  assert.equal(await bashGets(t, 'envarium deploy a:', 'a:$(b)'), '\\$\\(b\\)\n');
});

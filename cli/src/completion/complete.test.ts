import assert from 'node:assert/strict';
import { test } from 'node:test';
import { forBash } from '../commands/completion.ts';
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

test('bash gets nothing inside an open quote that it would not take literally', () => {
  for (const name of ['we$(id)', 'we`id`', 'we"; id; "', 'we\\', 'we!!'])
    assert.equal(forBash(name, { text: 'we', quote: '"' }), null, name);
  assert.equal(forBash("we'; id; '", { text: 'we', quote: "'" }), null);
  assert.equal(forBash('we$(id)', { text: 'we', quote: "'" }), 'we$(id)');
  assert.equal(forBash("we're two", { text: 'we', quote: '"' }), "we're two");
});

test('bash gets only the part after the last = or : of a word', () => {
  assert.equal(forBash('web two', { text: 'we', quote: '' }), 'web\\ two');
  assert.equal(forBash('web two', { text: 'we', quote: '"' }), 'web two');
  assert.equal(forBash('--type=prPlan', { text: '--type=pr', quote: '' }), 'prPlan');
  assert.equal(forBash('a:$(b)', { text: 'a:', quote: '' }), '\\$\\(b\\)');
});

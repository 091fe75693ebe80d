/** Variables and committed configurations in programs, with the real runner and the real Pulumi. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { expectResult } from '../../../testing/outcomes.ts';
import { withPulumi } from '../../../testing/pulumi/pulumi-folder.ts';
import { pulumiStage, variablesOf } from '../../../testing/pulumi/pulumi-stage.ts';
import { onePage as program } from '../../../testing/pulumi/shop.ts';

test('a committed configuration is kept, and its secrets are read', withPulumi, async (t) => {
  const { setup, run, job, apply, world } = pulumiStage(t, {
    'Pulumi.yaml': program
      .replace('hello', '${greeting} ${word}')
      .replace('config:', 'config:\n  greeting: { type: string }\n  word: { type: string, secret: true }'),
  });
  // Configuration as a person would commit it.
  const own = await run(
    job({ variables: variablesOf(world, { values: { greeting: 'x' }, secrets: { word: 'y' } }) }),
  );
  assert.equal(own.outcome.result, 'planned', JSON.stringify(own.outcome));
  const tree = join(own.outcome.workFolder ?? '', 'tree');
  const folder = readdirSync(join(setup.folder, 'work'), { recursive: true })
    .map(String)
    .find((name) => name.endsWith('Pulumi.test-one.yaml'));
  assert.ok(folder, tree);
  const committed = readFileSync(join(setup.folder, 'work', folder), 'utf8');
  assert.match(committed, /secure: v1:/);
  setup.commit({
    'Pulumi.test-one.yaml': committed.replace('shop:greeting: x', 'shop:greeting: from the code'),
  });
  const planned = await run(job());
  await expectResult('applied', apply(planned, { onOtherMachine: true }));
  assert.equal(readFileSync(join(world, 'page'), 'utf8'), 'from the code y');
});

test('structured values of variables reach the program', withPulumi, async (t) => {
  const { world, deploy } = pulumiStage(t, {
    'Pulumi.yaml': program
      .replace('hello', '${list[1]} ${other:flag} ${hidden}')
      .replace(
        'config:',
        'config:\n  list: { type: array, items: { type: string } }\n  hidden: { type: string, secret: true }',
      ),
  });
  const base = variablesOf(world, {});
  const terraform = [
    ...base.terraform,
    { name: 'list', value: '["one", "two"]', format: 'JSON' as const, isSensitive: false },
    { name: 'other:flag', value: 'true', isSensitive: false },
    { name: 'hidden', value: 'line one\nline two\n', isSensitive: true },
  ];
  const { applied } = await deploy({ variables: { ...base, terraform } });
  assert.equal(applied.outcome.result, 'applied', JSON.stringify(applied.outcome));
  assert.equal(readFileSync(join(world, 'page'), 'utf8'), 'two true line one\nline two\n');
});

test('a task finds the stack selected, with its state', withPulumi, async (t) => {
  const { run, job, deploy, after, world } = pulumiStage(t, { 'Pulumi.yaml': program });
  const { applied } = await deploy();
  const known = after(applied);
  const task = await run(
    job({ type: 'task', taskPayload: 'pulumi stack output page', ...known.changes }),
    known.options,
  );
  assert.equal(task.outcome.result, 'applied', JSON.stringify(task.outcome));
  assert.match(task.log('task:run'), new RegExp(`^${join(world, 'page')}$`, 'm'));
});

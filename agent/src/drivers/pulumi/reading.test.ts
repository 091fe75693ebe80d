/** Output of Pulumi and files for it, without a run. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { pulumiState } from '#protocol/tools/pulumi/state.ts';
import { jobOf, treeFrom } from '../../../testing/driver-job.ts';
import { pulumiFolder, withPulumi } from '../../../testing/pulumi/pulumi-folder.ts';
import { type DriverContext, TornState } from '../interface/driver.ts';
import { destroyDifference, updateDifference } from './approval.ts';
import { environmentOf } from './commands.ts';
import { pulumiDiagnostics, pulumiReason } from './diagnostics.ts';
import { readEvents } from './events.ts';
import { commonPlan } from './plan.ts';
import { hiddenInPreview } from './preview-check.ts';
import { checkpointFiles, pendingOperations, readState, retainedUrns, withoutPending } from './state.ts';

const fixture = (name: string) => readFile(join(import.meta.dirname, '__fixtures__', name));
const json = (value: unknown) => Buffer.from(JSON.stringify(value));

test('a drifted resource is marked, and what the preview leaves as it is counts as settled', async () => {
  const events = readEvents(await fixture('3.259.0-drift.jsonl'));
  const { plan } = commonPlan(events);
  assert.deepEqual(
    plan.resourceChanges.map(({ name, driftByCloud }) => [name, driftByCloud]),
    [['page', true]],
  );
  const refreshOnly = events.filter(({ resourcePreEvent }) => resourcePreEvent?.metadata.op !== 'update');
  const settled = commonPlan(refreshOnly);
  assert.deepEqual(
    settled.plan.settled?.map(({ name, action }) => [name, action]),
    [['page', 'update']],
  );
  assert.equal(settled.hasChanges, false);
});

test('steps that are not known are shown, and do not make a plan empty', async () => {
  const events = readEvents(await fixture('3.259.0-drift.jsonl')).map((event) => {
    const { resourcePreEvent } = event;
    if (resourcePreEvent?.metadata.op !== 'update') return event;
    return { ...event, resourcePreEvent: { metadata: { ...resourcePreEvent.metadata, op: 'transmute' } } };
  });
  const { plan, planSummary, hasChanges } = commonPlan(events);
  assert.deepEqual(
    plan.resourceChanges.map(({ name, kind, actionReason }) => [name, kind, actionReason]),
    [['page', 'unknown', 'Pulumi plans "transmute"']],
  );
  assert.deepEqual(planSummary, { added: 0, changed: 0, destroyed: 0, unknown: 1 });
  assert.equal(hasChanges, true);
  const urn = 'urn:pulumi:dev::shop::file:index:File::page';
  const saved = json({ manifest: {}, resourcePlans: { [urn]: { steps: ['transmute'] } } });
  assert.match(hiddenInPreview(saved, []) ?? '', /^transmute of /);
});

test('resources that the state retains are forgotten, and not destroyed', async () => {
  const events = readEvents(await fixture('3.259.0-destroy.jsonl'));
  const urns = commonPlan(events).plan.resourceChanges.map(({ path }) => path);
  const exported = (resources: readonly object[]) =>
    retainedUrns(
      json({ version: 3, deployment: { resources: resources.map((each) => ({ type: 'a', ...each })) } }),
    );
  const retained = exported([
    { urn: urns[0], retainOnDelete: true },
    { urn: urns[1], retainOnDelete: true, delete: true },
  ]);
  const { plan, planSummary, hasChanges } = commonPlan(events, retained);
  assert.equal(planSummary.forgotten, 1);
  assert.equal(planSummary.destroyed, urns.length - 1);
  assert.equal(hasChanges, true);
  const [row] = plan.resourceChanges;
  assert.deepEqual([row?.action, row?.kind, row?.attributes], ['metadata', 'forget', []]);
  assert.match(row?.actionReason ?? '', /^retainOnDelete: it stays/);
  const changes = readEvents(await fixture('3.259.0-change.jsonl'));
  const replaced = commonPlan(changes).plan.resourceChanges.find(({ action }) => action === 'recreate');
  const kept = commonPlan(changes, exported([{ urn: replaced?.path, retainOnDelete: true }])).plan;
  const other = kept.resourceChanges.find(({ path }) => path === replaced?.path);
  assert.deepEqual([other?.action, other?.kind], ['create', 'forget']);
  assert.deepEqual(other?.attributes, replaced?.attributes);
  const isPending = { urn: urns[0], delete: true };
  assert.equal(exported([{ urn: urns[0], retainOnDelete: true }, isPending]).size, 0);
  assert.equal(exported([isPending, { urn: urns[0], retainOnDelete: true }]).size, 0);
  assert.equal(exported([]).size, 0);
  assert.equal(retainedUrns(undefined).size, 0);
});

test('a secret that changes is a changed attribute without its value', async () => {
  const { plan } = commonPlan(readEvents(await fixture('3.259.0-change.jsonl')));
  const key = plan.resourceChanges.find(({ name }) => name === 'key');
  assert.deepEqual(
    key?.attributes.map(({ name, forcesReplacement }) => [name, forcesReplacement]),
    [['path', true]],
  );
  assert.equal(key?.actionReason, 'replaced because of path');
  assert.ok(!JSON.stringify(plan).includes('planted'));
});

const plan = (resourcePlans: object) => json({ manifest: {}, resourcePlans });
const urn = (name: string) => `urn:pulumi:dev::shop::file:index:File::${name}`;
const planned = (steps: string[], adds: object = {}) => ({ goal: { inputDiff: { adds } }, steps });
const secret = (ciphertext: string) => ({
  '4dabf18193072939515e22adb298388d': '1b47061264138c4ac30d75fd1eb44270',
  ciphertext,
});

test('an update that does the same or less is as approved', () => {
  const approved = plan({
    [urn('page')]: planned(['create'], { name: 'page-1a2b3c4', token: secret('one') }),
    [urn('key')]: planned(['update'], { content: 'a' }),
  });
  const now = plan({
    [urn('page')]: planned(['create'], { name: 'page-9f8e7d6', token: secret('two') }),
    [urn('key')]: planned(['same']),
  });
  assert.equal(updateDifference(approved, now), null);
});

test('an update that does more, or something else, is named', () => {
  const approved = plan({ [urn('page')]: planned(['update'], { content: 'a' }) });
  const difference = (resources: object) => updateDifference(approved, plan(resources));
  assert.match(
    difference({ [urn('new')]: planned(['create']) }) ?? '',
    /^create of .*::new, which was not in/,
  );
  assert.match(
    difference({ [urn('page')]: planned(['create-replacement', 'replace', 'delete-replaced']) }) ?? '',
    /^create-replacement and replace and delete-replaced of .*::page instead of update$/,
  );
  assert.match(
    difference({ [urn('page')]: planned(['update'], { content: 'b' }) }) ?? '',
    /^other inputs of .*::page: content$/,
  );
  for (const now of [undefined, Buffer.from(''), Buffer.from('{"resourcePlans": {')])
    assert.match(updateDifference(approved, now) ?? '', /reported nothing that could be compared/);
});

test('a destroy that deletes more than was approved is named', async () => {
  const approved = await fixture('3.259.0-destroy.jsonl');
  assert.equal(destroyDifference(approved, approved), null);
  const less = Buffer.from(
    approved
      .toString()
      .split('\n')
      .filter((line) => !line.includes('::page'))
      .join('\n'),
  );
  assert.equal(destroyDifference(approved, less), null);
  assert.match(destroyDifference(less, approved) ?? '', /^delete of urn:.*::page \(\/srv\/world\/page\)$/);
  assert.match(destroyDifference(approved, Buffer.from('')) ?? '', /reported nothing/);
});

test('a checkpoint becomes a state with a serial, which only another content raises', async () => {
  const files = checkpointFiles({ workspaceName: 'network-abc123', environmentId: 'environment' }, 'shop');
  const stored = await fixture('3.259.0-state.json');
  const [[path, content] = ['', new Uint8Array()]] = files.split(stored);
  assert.equal(path, '.pulumi/stacks/shop/network-abc123.json');
  assert.ok(files.isPart(path));
  for (const other of [
    '.pulumi/backups/shop/network-abc123.json',
    '.pulumi/stacks/shop/network-abc123.json.bak',
  ])
    assert.ok(!files.isPart(other), other);
  assert.equal(files.join(new Map([[path, content]]), stored), stored);
  const changed = Buffer.from(Buffer.from(content).toString().replaceAll('hello', 'bye'));
  const next = files.join(new Map([[path, changed]]), stored);
  assert.equal(readState(next).serial, readState(stored).serial + 1);
  assert.equal(readState(next).lineage, 'environment');
  assert.deepEqual(pulumiState.check(next), {
    serial: 5,
    lineage: 'environment',
    resourceCount: 2,
    toolVersion: '3.259.0',
  });
  const first = readState(files.join(new Map([[path, content]]), null));
  assert.deepEqual([first.serial, first.lineage], [1, 'environment']);
  assert.throws(() => files.check(changed.subarray(0, 100)), TornState);
});

test('a state names its project in a way that leads nowhere else', async () => {
  const files = checkpointFiles({ workspaceName: 'dev', environmentId: 'environment' }, null);
  for (const stack of ['organization/../dev', 'organization/a\u0000b/dev'])
    assert.throws(
      () => files.split(json({ version: 3, serial: 1, lineage: 'x', stack, deployment: {} })),
      /does not say which project/,
    );
});

test('other files are refused as states of Pulumi, with the reason', () => {
  const reasons: readonly (readonly [file: object, reason: RegExp])[] = [
    [{ version: 4, serial: 1, lineage: 'x', resources: [] }, /not an export of a stack of version 3/],
    [{ version: 3, deployment: {} }, /serial must be a whole number.*add "serial": 0/],
    [{ version: 3, serial: 1, deployment: {} }, /lineage must be a non-empty string/],
    [{ version: 3, serial: 1, lineage: 'x', deployment: { resources: [{}] } }, /resources\[0\] must be/],
    [{ version: 3, serial: 1, lineage: 'x', deployment: { resources: 7 } }, /resources must be a list/],
  ];
  for (const [file, reason] of reasons) assert.throws(() => pulumiState.check(json(file)), reason);
  assert.throws(() => pulumiState.check(Buffer.from('{"version": 3, "deployment"')), SyntaxError);
});

test('unfinished operations are found and removed', () => {
  const operation = { type: 'creating', resource: { urn: urn('key'), type: 'file:index:File' } };
  const exported = json({ version: 3, deployment: { resources: [], pending_operations: [operation] } });
  assert.deepEqual(pendingOperations(exported), [operation]);
  assert.deepEqual(JSON.parse(withoutPending(exported)), { version: 3, deployment: { resources: [] } });
  assert.deepEqual(pendingOperations(json({ version: 3, deployment: {} })), []);
});

test('the first error counts, with its place and what to do, and how many more there are', () => {
  const output = `\u001b[38;5;1merror: \u001b[0mfirst\n<{%fg 1%}>error: update failed<{%reset%}>\n`;
  assert.equal(pulumiReason(output), 'first');
  assert.equal(
    pulumiReason(`${output}error: second\n\non a.yaml line 2\nerror: third\n`),
    'first (and 2 more errors)',
  );
  assert.equal(pulumiReason('error: update failed\n'), 'update failed');
  assert.equal(pulumiReason('error: second\n\non a.yaml line 2\n'), 'second (a.yaml, line 2)');
  assert.equal(pulumiReason('all is well\n'), null);
  assert.match(
    pulumiReason('error: getting stack configuration: get stack secrets manager: incorrect passphrase\n') ??
      '',
    /incorrect passphrase\. PULUMI_CONFIG_PASSPHRASE is not the passphrase/,
  );
});

test('all errors and warnings are found, each once', () => {
  const output = `Diagnostics:
  local:index/file:File (one):
    \u001b[38;5;1merror: \u001b[0mone failed
    warning: one is deprecated
      use another
    warning: 

  local:index/file:File (two):
    error: two failed

  pulumi:pulumi:Stack (shop):
    error: update failed
`;
  assert.deepEqual(pulumiDiagnostics(output), [
    { severity: 'error', text: 'one failed' },
    { severity: 'error', text: 'two failed' },
    { severity: 'warning', text: 'one is deprecated\nuse another' },
  ]);
});

test('Pulumi itself imports a stored state', withPulumi, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'pulumi-import-'));
  t.after(() => rm(folder, { recursive: true }));
  await mkdir(join(folder, 'backend'));
  await writeFile(join(folder, 'Pulumi.yaml'), 'name: shop\nruntime: yaml\n');
  const pulumi = (...args: string[]) =>
    promisify(execFile)(join(pulumiFolder(), 'pulumi'), [...args, '--non-interactive'], {
      cwd: folder,
      env: {
        PATH: '/usr/bin:/bin',
        USER: 'test',
        PULUMI_HOME: join(folder, 'home'),
        PULUMI_BACKEND_URL: `file://${folder}/backend`,
        PULUMI_CONFIG_PASSPHRASE: 'hello',
        PULUMI_SKIP_UPDATE_CHECK: 'true',
      },
    });
  const file = join(import.meta.dirname, '__fixtures__', '3.259.0-state.json');
  await pulumi('stack', 'select', '--create', 'network-abc123');
  await pulumi('stack', 'import', '--stack', 'network-abc123', '--file', file);
  const { stdout } = await pulumi('stack', 'output', '--stack', 'network-abc123', '--show-secrets', '--json');
  assert.deepEqual(JSON.parse(stdout), { page: '/srv/world/page', key: 'planted' });
});

test('a host of a language that is elsewhere than Pulumi is on the PATH of its commands', () => {
  const contextOf = (host: string, environment: Record<string, string> = {}): DriverContext => ({
    job: jobOf({
      tool: 'pulumi',
      variables: {
        environment: Object.entries(environment).map(([name, value]) => ({
          name,
          value,
          isSensitive: false,
        })),
        terraform: [],
      },
    }),
    configurationFolder: '/run/tree',
    stateFolder: '/run/state',
    planFile: '/run/plan',
    temporaryFolder: '/run/tmp',
    tree: treeFrom({}),
    programPaths: { pulumi: '/opt/pulumi/pulumi', 'pulumi-language-yaml': host },
  });
  assert.equal(environmentOf(contextOf('/opt/pulumi/pulumi-language-yaml'))['PATH'], undefined);
  const elsewhere = '/opt/hosts/pulumi-language-yaml';
  assert.match(environmentOf(contextOf(elsewhere))['PATH'] ?? '', /^\/opt\/hosts:.*\/usr\/bin/);
  assert.equal(environmentOf(contextOf(elsewhere, { PATH: '/own' }))['PATH'], '/opt/hosts:/own');
});

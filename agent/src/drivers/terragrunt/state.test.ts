import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readUnitStates } from '#protocol/tools/terragrunt-state.ts';
import { TornState } from '../interface/driver.ts';
import { partName, readTerragruntState, unitFiles } from './state.ts';

const state = (serial: number, lineage = 'one') =>
  Buffer.from(`${JSON.stringify({ version: 4, serial, lineage, outputs: {}, resources: [] })}\n`);

const files = unitFiles('environment', []);
const join = (parts: Record<string, Buffer>, before: Uint8Array | null = null) =>
  files.join(new Map(Object.entries(parts).map(([unit, bytes]) => [partName(unit), bytes])), before);
const serialsOf = (document: Uint8Array) =>
  Object.fromEntries(
    [...readUnitStates(document).units].map(([unit, bytes]) => [unit, readTerragruntState(bytes).serial]),
  );

test('the name of a file says which unit it is of, and files of other names are left alone', () => {
  for (const unit of ['.', 'vpc', 'live/eu west/vpc', '../x', 'a%2Fb', '100%']) {
    assert.ok(files.isPart(partName(unit)), unit);
    assert.ok(!partName(unit).includes('/'), unit);
  }
  for (const name of ['vpc.tfstate.backup', '.vpc.tfstate.lock.info', 'a b.tfstate', '%zz.tfstate'])
    assert.ok(!files.isPart(name), name);
});

test('files become one document, and the document the same files', () => {
  const document = join({ vpc: state(3), 'live/app': state(1) });
  assert.deepEqual([readUnitStates(document).serial, readUnitStates(document).lineage], [6, 'environment']);
  const parts = files.split(document);
  assert.deepEqual([...parts.keys()].sort(), ['live%2Fapp.tfstate', 'vpc.tfstate']);
  assert.equal(Buffer.from(parts.get('vpc.tfstate') ?? []).toString(), state(3).toString().trim());
});

test('the serial never falls: removed units stay, and an older or a new state of a unit changes nothing of that', () => {
  const before = join({ vpc: state(3), app: state(5) });
  assert.deepEqual(join({ app: state(5) }, before), before, 'the same content is the same document');
  const next = join({ app: state(6) }, before);
  assert.deepEqual([readUnitStates(next).serial, serialsOf(next)], [11, { app: 6, vpc: 3 }]);
  assert.deepEqual(serialsOf(join({ app: state(2) }, before)), { app: 5, vpc: 3 });
  const fresh = join({ app: state(0, 'other') }, before);
  assert.deepEqual(
    [readUnitStates(fresh).serial > readUnitStates(before).serial, serialsOf(fresh)],
    [true, { app: 0, vpc: 3 }],
  );
});

test('torn files and torn documents are refused', () => {
  for (const bytes of [Buffer.of(), state(1).subarray(0, 20)])
    assert.throws(() => files.check(bytes), TornState);
  const document = join({ vpc: state(3) });
  assert.throws(() => readTerragruntState(document.subarray(0, document.length - 5)), TornState);
});

test('units of other backends are named, and their resources are expected elsewhere', () => {
  const mixed = unitFiles('environment', ['db']);
  const document = mixed.join(new Map([[partName('vpc'), state(1)]]), null);
  assert.deepEqual(readUnitStates(document).elsewhere, ['db']);
  assert.deepEqual(
    [mixed.keeps('db/a.b'), mixed.keeps('vpc/a.b'), mixed.keeps('database/a.b')],
    [false, true, true],
  );
  const unknown = unitFiles('environment', null);
  assert.deepEqual(readUnitStates(unknown.join(new Map([[partName('vpc'), state(2)]]), document)).elsewhere, [
    'db',
  ]);
});

test('a state that a unit could not store is found where its tool has left it', async () => {
  const folders: Record<string, string[]> = {
    '': ['live'],
    live: ['vpc', 'terragrunt.hcl'],
    'live/vpc': ['.terragrunt-cache', 'main.tf'],
    'live/vpc/.terragrunt-cache': ['h1'],
    'live/vpc/.terragrunt-cache/h1': ['h2'],
    'live/vpc/.terragrunt-cache/h1/h2': ['modules'],
    'live/vpc/.terragrunt-cache/h1/h2/modules': ['.terraform', 'errored.tfstate'],
  };
  assert.deepEqual(await files.rescued(async (folder) => folders[folder] ?? []), [
    {
      part: partName('live/vpc'),
      path: 'live/vpc/.terragrunt-cache/h1/h2/modules/errored.tfstate',
    },
  ]);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { areUnitStates, readUnitStates, unitStates, writeUnitStates } from './terragrunt-state.ts';

const state = (serial: number, instances: number) =>
  Buffer.from(
    JSON.stringify({
      version: 4,
      terraform_version: '1.11.4',
      serial,
      lineage: `own-${serial}`,
      outputs: {},
      resources: [
        { mode: 'managed', type: 'a', name: 'b', instances: Array.from({ length: instances }, () => ({})) },
      ],
    }),
  );

const document = (elsewhere: string[] = []) =>
  Buffer.from(
    writeUnitStates({
      serial: 7,
      lineage: 'environment',
      elsewhere,
      units: new Map([
        ['network/vpc', state(3, 2)],
        ['app', state(2, 1)],
      ]),
    }),
  );

test('the states of units are one document, from which each comes back byte for byte', () => {
  const { units, serial, lineage } = readUnitStates(document());
  assert.deepEqual([serial, lineage, [...units.keys()]], [7, 'environment', ['app', 'network/vpc']]);
  assert.deepEqual(Buffer.from(units.get('network/vpc') ?? []), state(3, 2));
  assert.ok(areUnitStates(document()));
  const { units: own, ...rest } = JSON.parse(document().toString()) as Record<string, unknown>;
  for (const rewritten of [
    JSON.stringify(JSON.parse(document().toString()), null, 2),
    JSON.stringify({ units: own, ...rest }),
  ])
    assert.ok(areUnitStates(Buffer.from(rewritten)));
  for (const other of [state(1, 1).toString(), '{"version":4,"outputs":{"a":{"value":{"envariumUnits":1}}}}'])
    assert.ok(!areUnitStates(Buffer.from(other)));
});

test('resources of all units are counted, unless the backend of one of them has its state', () => {
  assert.deepEqual(unitStates.read(document()), {
    serial: 7,
    lineage: 'environment',
    resourceCount: 3,
    toolVersion: '1.11.4',
  });
  assert.equal(unitStates.check(document(['db'])).resourceCount, null);
  const encrypted = { serial: 1, lineage: 'x', encrypted_data: 'abc' };
  const units = new Map([['a', Buffer.from(JSON.stringify(encrypted))]]);
  assert.equal(
    unitStates.read(writeUnitStates({ serial: 1, lineage: 'l', elsewhere: [], units })).resourceCount,
    null,
  );
});

test('what is not such a document is refused, with the unit whose state is wrong', () => {
  const text = document().toString();
  for (const [broken, problem] of [
    ['', /it is empty/],
    [text.slice(0, -30), /./],
    [text.replace('"serial":7', '"serial":-1'), /^serial must be/],
    [text.replace('"lineage":"environment"', '"lineage":""'), /^lineage must be/],
    [text.replace('"elsewhere":[]', '"elsewhere":{}'), /^elsewhere must be/],
    [text.replace('"version":4', '"version":3'), /^unit "app": it is of version 3/],
    [state(1, 1).toString(), /^envariumUnits must be 1/],
  ] as const)
    assert.throws(() => unitStates.check(Buffer.from(broken)), { message: problem });
});

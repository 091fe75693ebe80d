import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unitAddress, unitModule, versionsOfUnits } from './unit-names.ts';

test('addresses and modules carry their unit, except those of the folder itself', () => {
  assert.equal(unitAddress('live/vpc', 'aws_vpc.it'), 'live/vpc/aws_vpc.it');
  assert.equal(unitAddress('.', 'aws_vpc.it'), 'aws_vpc.it');
  assert.deepEqual(
    [unitModule('vpc', 'module.net'), unitModule('vpc', ''), unitModule('.', 'module.net')],
    ['vpc/module.net', 'vpc', 'module.net'],
  );
});

test('versions of units are those of their run, with modules named by unit', () => {
  assert.deepEqual(
    versionsOfUnits([
      { unit: '.', providerVersions: { aws: '6.0.0' }, moduleVersions: { net: '1.0.0' } },
      { unit: 'app', moduleVersions: { net: '2.0.0' } },
      { unit: 'db' },
    ]),
    { providerVersions: { aws: '6.0.0' }, moduleVersions: { net: '1.0.0', 'app/net': '2.0.0' } },
  );
});

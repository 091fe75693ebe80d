import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { readAddress } from './address.ts';
import { terraformProgress } from './progress.ts';

const recorded = (name: string) => readFile(join(import.meta.dirname, '__fixtures__', name));
const eventsOf = (bytes: Uint8Array) =>
  terraformProgress()
    .read(bytes)
    .map((event) => `${event.status} ${event.action} ${event.address}`);

describe('progress of an apply', () => {
  it('tells what began, ended and under which id', async () => {
    const events = terraformProgress().read(await recorded('change-1.11.4.apply.log'));
    assert.deepEqual(
      events.find(
        (event) =>
          event.address === 'terraform_data.replaced' && event.action === 'create' && event.status === 'done',
      ),
      {
        address: 'terraform_data.replaced',
        provider: 'terraform',
        type: 'terraform_data',
        name: 'replaced',
        moduleName: '',
        status: 'done',
        action: 'create',
        id: 'c4bf10a6-7c0a-f164-1802-826653b1a316',
      },
    );
    const counted = Map.groupBy(events, (event) => `${event.status} ${event.action}`);
    assert.deepEqual(Object.fromEntries([...counted].map(([kind, list]) => [kind, list.length])), {
      'started read': 1,
      'done read': 1,
      'started delete': 4,
      'done delete': 4,
      'started create': 2,
      'done create': 2,
      'started update': 2,
      'done update': 2,
    });
  });

  it('reads modules and keys', async () => {
    const events = terraformProgress().read(await recorded('create-1.11.4.apply.log'));
    const names = events
      .filter((event) => event.status === 'done' && event.moduleName !== '')
      .map((event) => [event.moduleName, event.name]);
    assert.deepEqual(names.sort(), [
      ['module.vpc["i.1"]', 'subnet["a b"]'],
      ['module.vpc["i.1"]', 'subnet["q\\"uote"]'],
      ['module.vpc["i.1"]', 'subnet["x.y[0]"]'],
    ]);
  });

  for (const name of ['failed-1.11.4.apply.log', 'failed-no-color-1.11.4.apply.log']) {
    it(`tells a failure, and takes no program's words for terraform's, in ${name}`, async () => {
      const events = eventsOf(await recorded(name));
      assert.equal(events.filter((event) => event === 'failed create terraform_data.bad').length, 1);
      assert.deepEqual(
        events.filter((event) => event.includes('fake')),
        [],
      );
    });
  }

  it('does not depend on where chunks end', async () => {
    const bytes = await recorded('change-1.11.4.apply.log');
    const whole = terraformProgress().read(bytes);
    fc.assert(
      fc.property(fc.array(fc.nat({ max: bytes.length }), { maxLength: 30 }), (places) => {
        const reader = terraformProgress();
        const borders = [0, ...places.sort((left, right) => left - right), bytes.length];
        assert.deepEqual(
          borders.slice(1).flatMap((end, index) => reader.read(bytes.subarray(borders[index]!, end))),
          whole,
        );
      }),
      { numRuns: 50 },
    );
  });

  it('passes over very long lines and binary bytes', () => {
    const reader = terraformProgress();
    for (let count = 0; count < 100; count += 1)
      assert.deepEqual(reader.read(Buffer.alloc(65_536, 0xff)), []);
    assert.deepEqual(reader.read(Buffer.from('\nterraform_data.a: Creating...\n')).length, 1);
  });

  it('leaves the line about time passed alone', () => {
    assert.deepEqual(
      eventsOf(
        Buffer.from(
          'aws_db.a: Still creating... [10s elapsed]\naws_db.a (local-exec): aws_db.b: Creating...\n',
        ),
      ),
      [],
    );
    assert.deepEqual(eventsOf(Buffer.from('data.aws_ami.a["x"]: Read complete after 1s [id=ami-[1]]\r\n')), [
      'done read data.aws_ami.a["x"]',
    ]);
  });
});

describe('a resource address', () => {
  it('is taken apart', () => {
    const text = 'module.a["x.\\"y[0]"].module.b[2].data.aws_ami.c-d["é"]: Reading...';
    assert.deepEqual(readAddress(text), {
      value: {
        address: text.slice(0, -12),
        moduleName: 'module.a["x.\\"y[0]"].module.b[2]',
        mode: 'data',
        type: 'aws_ami',
        name: 'c-d',
        index: '["é"]',
      },
      end: text.length - 12,
    });
  });

  it('is not found in other text', () => {
    for (const text of ['', 'Plan: 1 to add', 'module.a: x', 'a.b.c: Creating...', 'terraform_data', '"a".b'])
      assert.equal(readAddress(text), null, text);
  });
});

import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import type { UnrecordedResource } from '#contract/deployments/plan.ts';
import { createOutput } from '../terminal/output.ts';
import { showUnrecorded } from './show-unrecorded.ts';

/** The lines that are shown for pasting. */
async function importBlocks(unrecorded: readonly UnrecordedResource[]): Promise<string[]> {
  const stream = new PassThrough();
  await showUnrecorded(createOutput(stream as unknown as NodeJS.WriteStream, {}), unrecorded);
  const [, ...blocks] = String(stream.read()).split(/^To import those.*:\n/m);
  return blocks.join('').split('\n').slice(0, -1);
}

const created = (address: string, id = 'i-1') => ({ address, id, certainty: 'created' as const });

test('resources that were certainly created are shown as import blocks with literal texts', async () => {
  const blocks = await importBlocks([
    created('module.net["a.b"].aws_vpc.main[0]', 'vpc-"1"\\${x}%{y}$z'),
    { address: 'aws_eip.ip', certainty: 'created' },
    { address: 'aws_eip.other', id: 'eip-1', certainty: 'may exist' },
  ]);
  assert.deepEqual(blocks, [
    'import {',
    '  to = module.net["a.b"].aws_vpc.main[0]',
    '  id = "vpc-\\"1\\"\\\\$${x}%%{y}$z"',
    '}',
  ]);
});

test('an address or ID that could be read as anything else is not shown as an import block', async () => {
  const hostile = [
    'a.b\n}\nresource "x" "y" {',
    'a.b["${file("/etc/passwd")}"]',
    'a.b[each.key]',
    'a.b[file("x")]',
    'a',
    'a.b # c',
    '',
  ].map((address) => created(address));
  assert.deepEqual(await importBlocks([...hostile, created('a.b', 'x\ny'), created('a.b', '\u202ex')]), []);
});

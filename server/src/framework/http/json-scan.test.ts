import assert from 'node:assert/strict';
import { test } from 'node:test';
import { operations } from '#contract/operations.ts';
import type { ErrorBody } from '#contract/schema/errors.ts';
import { testAgent } from '../../../testing/agent.ts';
import { testApp } from '../../../testing/app.ts';
import { send } from '../../../testing/client.ts';
import { JsonScan } from './json-scan.ts';

const limits = { depth: 3, values: 6 };

/** Scans a text byte by byte, so that every border between two chunks is tried. */
function scan(text: string): void {
  const scanning = new JsonScan(limits);
  for (const byte of Buffer.from(text)) scanning.push(Buffer.from([byte]));
}

test('a text is counted while it arrives, without what its strings contain', () => {
  for (const text of ['{"a": [1, 2, [3]]}', '"[[[[[[,,,,,,"', '["\\\\", "\\"[[[[,,,,"]', '', '[{"ä": "ü["}]'])
    assert.doesNotThrow(() => scan(text), text);
  for (const text of ['[[[[', '{"a":{"a":{"a":{}}}}', '["\\\\",[[[]]]]'])
    assert.throws(() => scan(text), /nested deeper than 3 levels/, text);
  for (const text of ['[1,2,3,4,5,6]', '[[],[],[],[]]', ',,,,,,'])
    assert.throws(() => scan(text), /more than 6 values/, text);
});

test('a body that is nested too deeply or has too many values is refused before it is parsed', async () => {
  const app = await testApp();
  const post = async (payload: string) => {
    const response = await send(app, { method: 'POST', url: '/api/environments/without-template', payload });
    return { status: response.statusCode, ...response.json<ErrorBody>() };
  };
  const deep = await post(`{"a": ${'['.repeat(1_000_000)}`);
  assert.deepEqual([deep.status, deep.message], [400, '/body is nested deeper than 64 levels']);
  const many = await post(`{"a": [${'[],'.repeat(2_000_000)}[]]}`);
  assert.deepEqual([many.status, many.message], [413, '/body has more than 100000 values']);
});

test('each operation and each message of an agent has a limit for its body', async () => {
  const app = await testApp();
  const agent = await testAgent(app);
  const filler = 'x'.repeat(2 * 1024 * 1024);
  for (const { method, path, bodyMegabytes } of [operations.createProject, operations.createGitToken]) {
    const url = `/api${path}`;
    assert.equal(bodyMegabytes, undefined);
    const response = await send(app, { method, url, payload: JSON.stringify({ name: filler }) });
    assert.deepEqual(
      [response.statusCode, response.json<ErrorBody>().message],
      [413, 'The body, decompressed, is larger than 1048576 bytes'],
    );
  }
  const place = { jobId: '1', attempt: 1, fence: 1 };
  for (const [name, bytes] of [
    ['register', 65_536],
    ['heartbeat', 65_536],
    ['claim', 65_536],
    ['goodbye', 65_536],
    ['mark', 65_536],
    ['report', 1_048_576],
  ] as const) {
    const response = await agent.send(name, place, { filler });
    assert.equal(response.statusCode, 413, name);
    assert.match(response.json<ErrorBody>().message, new RegExp(`larger than ${bytes} bytes`), name);
  }
  const finish = await agent.send('finish', place, { fence: 1, outcome: { filler } });
  assert.equal(finish.statusCode, 409, 'an outcome carries a whole plan');
});

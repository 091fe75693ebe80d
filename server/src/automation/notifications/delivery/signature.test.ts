import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { signatureHeaders } from './signature.ts';

type Verify = (headers: Record<string, string>, body: Buffer, secret: string) => boolean;

/** The example of the documentation, as its readers copy it. */
async function documentedExample(): Promise<Verify> {
  const page = readFileSync(new URL('../../../../../docs/use/notifications.md', import.meta.url), 'utf8');
  const code = /```js\n(.*?)```/s.exec(page)?.[1] ?? '';
  const source = `data:text/javascript,${encodeURIComponent(code)}`;
  const { isFromEnvarium } = (await import(source)) as { isFromEnvarium: Verify };
  return isFromEnvarium;
}

test('the example of the documentation accepts our signature, and nothing else', async () => {
  const verify = await documentedExample();
  const body = '{"id":"ü"}';
  const bytes = Buffer.from(body);
  const headers = signatureHeaders('secret', body, new Date());
  assert.ok(verify(headers, bytes, 'secret'));
  assert.ok(!verify(headers, bytes, 'another secret'));
  assert.ok(!verify(headers, Buffer.from('{"id":"u"}'), 'secret'));
  assert.ok(!verify({}, bytes, 'secret'));
  const old = signatureHeaders('secret', body, new Date(Date.now() - 3_600_000));
  assert.ok(!verify(old, bytes, 'secret'));
  assert.ok(
    !verify({ ...old, 'x-envarium-timestamp': headers['x-envarium-timestamp'] ?? '' }, bytes, 'secret'),
  );
});

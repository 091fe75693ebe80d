import assert from 'node:assert/strict';
import { test } from 'node:test';
import { repositoryFiles, textOf } from '../tree/repository.ts';

/** The fixed parts of each message on the page, if they are long enough to be unambiguous. */
function quotedParts(): string[] {
  const rows = (textOf('docs/start/troubleshooting.md') ?? '').matchAll(/^\| `([^`|]+)` \|/gm);
  return Array.from(rows, ([, message = '']) => message).flatMap((message) => {
    const parts = message.split('…').map((part) => part.trim());
    const long = parts.filter((part) => part.length >= 8);
    return long.length > 0 ? long : [message];
  });
}

test('every message that the troubleshooting page explains is one that the code writes', () => {
  const files = repositoryFiles().filter(
    (file) =>
      /^(agent|cli|clouds|contract|guards|protocol|server|settings)\/src\/.*\.ts$/.test(file) &&
      !file.endsWith('.test.ts'),
  );
  const sources = files.map((file) => (textOf(file) ?? '').replaceAll(/\\(['"`])/g, '$1')).join('\n');
  const parts = quotedParts();
  assert.ok(parts.length > 10);
  assert.deepEqual(
    parts.filter((part) => !sources.includes(part)),
    [],
  );
});

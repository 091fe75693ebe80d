import assert from 'node:assert/strict';
import { test } from 'node:test';
import { programOf } from './user-agent.ts';

test('browsers and systems have the names that people know', () => {
  const webkit = 'AppleWebKit/537.36 (KHTML, like Gecko)';
  const found = [
    'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
    `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${webkit} Chrome/140.0.0.0 Safari/537.36 Edg/140.0`,
    `Mozilla/5.0 (Linux; Android 16) ${webkit} Chrome/140.0.0.0 Mobile Safari/537.36`,
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 15_0) AppleWebKit/605 Version/26 Safari/605',
  ].map(programOf);
  assert.deepEqual(found, ['Firefox on Linux', 'Edge on Windows', 'Chrome on Android', 'Safari on macOS']);
});

test('an unknown program is shown as it calls itself, not at any length', () => {
  assert.equal(programOf('curl/8.0'), 'curl/8.0');
  assert.equal(programOf('x'.repeat(500)).length, 80);
  assert.equal(programOf(''), 'Unknown program');
});

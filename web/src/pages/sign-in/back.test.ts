import assert from 'node:assert/strict';
import { test } from 'node:test';
import { backOf, isLoopback } from './back.ts';

test('a sign-in leads back to the page that asked for it', () => {
  assert.equal(backOf('/deployments/7?tab=log'), '/deployments/7?tab=log');
});

test('a sign-in leads to no other site', () => {
  for (const back of [
    undefined,
    '',
    'https://elsewhere.example',
    '//elsewhere.example',
    '/\\elsewhere.example',
  ])
    assert.equal(backOf(back), '/');
});

test('a command line is let in on this computer only', () => {
  assert.ok(isLoopback('http://127.0.0.1:4711/callback'));
  assert.ok(isLoopback('http://[::1]:4711/callback'));
  for (const other of ['http://127.0.0.1.example/', 'https://127.0.0.1/', 'javascript:alert(1)', ''])
    assert.equal(isLoopback(other), false, other);
});

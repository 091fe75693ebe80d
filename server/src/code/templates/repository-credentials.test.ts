import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { splitCredentials, tokenCredentials } from './repository-credentials.ts';

test('an address without credentials stays as it was written', () => {
  for (const repository of [
    'https://host/a.git',
    'https://HOST:443/a',
    '/srv/repositories/a',
    'git@host:a.git',
    'ext::sh',
    '',
    'https://',
  ]) {
    assert.deepEqual(splitCredentials(repository), { repository, credentials: null });
  }
});

test('user and password are removed from the address, whatever characters they have', () => {
  const word = fc.string({ minLength: 1, unit: 'grapheme' }).filter((text) => text.isWellFormed());
  fc.assert(
    fc.property(word, word, (username, password) => {
      const written = `https://${encodeURIComponent(username)}:${encodeURIComponent(password)}@host/a.git`;
      assert.deepEqual(splitCredentials(written), {
        repository: 'https://host/a.git',
        credentials: { username, password, host: 'host' },
      });
    }),
  );
});

test('a token can be in the place of the user or of the password', () => {
  assert.deepEqual(splitCredentials('https://abc@host/a.git').credentials, {
    username: 'abc',
    password: 'abc',
    host: 'host',
  });
  assert.deepEqual(splitCredentials('https://:abc@host/a.git').credentials, {
    username: 'token',
    password: 'abc',
    host: 'host',
  });
});

test('a percent sign that encodes nothing is part of the password', () => {
  assert.deepEqual(splitCredentials('https://ada:50%25%@host/a.git').credentials, {
    username: 'ada',
    password: '50%25%',
    host: 'host',
  });
});

test('a stored token is a token, or user and token', () => {
  assert.deepEqual(tokenCredentials('abc'), { username: 'token', password: 'abc' });
  assert.deepEqual(tokenCredentials('ada:a:b'), { username: 'ada', password: 'a:b' });
  assert.deepEqual(tokenCredentials(':abc'), { username: 'token', password: ':abc' });
});

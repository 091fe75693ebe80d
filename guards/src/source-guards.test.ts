import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  normalizePath,
  pathRefusal,
  readRepository,
  repositoryRefusal,
  revisionRefusal,
} from './source-guards.ts';

const strict = { httpHosts: [], localPaths: [] };
const open = { httpHosts: ['127.0.0.1', 'git.local:8080'], localPaths: ['/srv/repositories/'] };

test('accepts https and reads its host', () => {
  assert.deepEqual(readRepository('https://git.example.com/team/code.git', strict), {
    kind: 'https',
    url: 'https://git.example.com/team/code.git',
    host: 'git.example.com',
  });
});

test('refuses plain http unless its host is named, with or without a port', () => {
  assert.match(
    repositoryRefusal('http://127.0.0.1:9000/a', strict) ?? '',
    /^repository .*ENVARIUM_GIT_HTTP_HOSTS/,
  );
  assert.equal(repositoryRefusal('http://127.0.0.1:9000/a', open), null);
  assert.equal(repositoryRefusal('http://git.local:8080/a', open), null);
  assert.match(repositoryRefusal('http://git.local:8081/a', open) ?? '', /plain http/);
});

test('accepts local folders only below an allowed one', () => {
  assert.deepEqual(readRepository('/srv/repositories/a', open), {
    kind: 'local',
    path: '/srv/repositories/a',
  });
  assert.deepEqual(readRepository('file:///srv/repositories/a%20b', open), {
    kind: 'local',
    path: '/srv/repositories/a b',
  });
  for (const path of [
    '/srv/repositories-other/a',
    '/srv/repositories/../a',
    '/etc',
    'file:///etc',
    'file://host/srv/repositories/a',
    'file:///srv/repositories/%2e%2e/a',
  ]) {
    assert.match(repositoryRefusal(path, open) ?? '', /^repository /, path);
  }
});

test('refuses every other transport and every trick with arguments', () => {
  const bad = [
    '',
    '-u',
    '--upload-pack=touch /tmp/x',
    'ext::sh -c id',
    'ext::sh%20-c',
    'fd::3',
    'EXT::x',
    'git@-oProxyCommand=id:code',
    'git@host:-oProxyCommand=id',
    '-oProxyCommand=id@host:code',
    "git@host:a'b",
    'git@host:a$(id)',
    'git@host:a`id`',
    'git@host:a;id',
    'git@host:a\\b',
    'git@host:!x',
    'git@host:',
    '@host:code',
    'git@:code',
    'host:code',
    'ssh://host/code',
    'ssh://git:secret@host/code',
    'ssh://git@-host/code',
    'ssh://git@host:0/code',
    'ssh://git@host:70000/code',
    'ssh://git@host',
    'ssh://git@host/',
    'ssh://git@host/a%27b',
    'ssh://git@host/a%0ab',
    'ssh://git@host/%',
    'ssh://git@host/code?x',
    'ssh://git@host/code#x',
    'ssh://git%40x@host/code',
    'git+ssh://git@host/code',
    'git://host/code',
    'ftp://host/code',
    'https://user:secret@host/code',
    'https://host/co de',
    'https://host/a\nb',
    'https://',
    'code',
    './code',
    'https://host/code?x=1',
    'https://host/code#x',
  ];
  for (const repository of bad)
    assert.match(repositoryRefusal(repository, open) ?? 'accepted', /^repository /, repository);
});

test('reads both forms of an ssh address, as git does', () => {
  const read = (repository: string) => {
    const kind = readRepository(repository, strict);
    return 'refusal' in kind || kind.kind !== 'ssh'
      ? kind
      : [kind.host, kind.address.user, kind.address.hostname, kind.address.port, kind.address.path];
  };
  assert.deepEqual(read('git@Host.example:team/code.git'), [
    'host.example',
    'git',
    'host.example',
    22,
    'team/code.git',
  ]);
  assert.deepEqual(read('git@ssh.dev.azure.com:v3/org/my%20project/code'), [
    'ssh.dev.azure.com',
    'git',
    'ssh.dev.azure.com',
    22,
    'v3/org/my%20project/code',
  ]);
  assert.deepEqual(read('git@host:22/code'), ['host', 'git', 'host', 22, '22/code']);
  assert.deepEqual(read('ssh://git@host/team/code.git'), ['host', 'git', 'host', 22, '/team/code.git']);
  assert.deepEqual(read('ssh://ada.l@host:2222/~/code'), ['host:2222', 'ada.l', 'host', 2222, '~/code']);
  assert.deepEqual(read('SSH://git@[::1]:2222/code'), ['[::1]:2222', 'git', '::1', 2222, '/code']);
  assert.deepEqual(read('git@[::1]:code'), ['[::1]', 'git', '::1', 22, 'code']);
});

test('never repeats a password in its refusal', () => {
  assert.doesNotMatch(repositoryRefusal('https://user:hunter2@host/code', strict) ?? '', /hunter2/);
});

test('accepts branches, tags and commits as revisions', () => {
  for (const revision of [
    'main',
    'feature/one',
    'v1.2.3',
    'a'.repeat(40),
    'deadbee',
    'refs/heads/main',
    'release-1',
  ])
    assert.equal(revisionRefusal(revision), null, revision);
});

test('refuses revisions that git could read as something else', () => {
  for (const revision of [
    '',
    '-x',
    '--upload-pack=x',
    'a..b',
    'a~1',
    'a^',
    'a:b',
    'a b',
    'a\nb',
    '@{u}',
    '@',
    'a//b',
    '/a',
    'a/',
    'a.',
    '.a',
    'a.lock',
    'a*',
    'a\\b',
    'a'.repeat(256),
  ]) {
    assert.match(revisionRefusal(revision) ?? 'accepted', /^revision /, revision);
  }
});

test('accepts folders below the repository and brings them into one form', () => {
  for (const path of ['', '/', '.', './', 'modules/app', './modules/app/', '/modules/app', 'a.b', '..a'])
    assert.equal(pathRefusal(path), null, path);
  assert.equal(normalizePath('./modules//app/'), 'modules/app');
  assert.equal(normalizePath('/modules/app'), 'modules/app');
  for (const root of ['.', '/', '//', '/./']) assert.equal(normalizePath(root), '');
});

test('refuses paths that could leave the repository', () => {
  for (const path of [
    '/..',
    '/a/../../etc',
    '/-x',
    '/.git',
    '/a\\b',
    '..',
    'a/../../b',
    '../a',
    '-x',
    'a/-x',
    'a\\b',
    'a\u0000b',
    '.git',
    '.GIT/hooks',
  ])
    assert.match(pathRefusal(path) ?? 'accepted', /^path /, path);
});

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { knownHostsFile, readKnownHosts } from './known-hosts.ts';

const own = 'git.example.com ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ9fXkbR';

test('the keys of the forges have the fingerprints that the forges publish', () => {
  const fingerprints = knownHostsFile([])
    .trim()
    .split('\n')
    .map((line) => {
      const [host, , key = ''] = line.split(' ');
      return `${host} ${createHash('sha256').update(Buffer.from(key, 'base64')).digest('base64').replaceAll('=', '')}`;
    });
  assert.deepEqual(fingerprints, [
    'github.com +DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU',
    'github.com p2QAMXNIC1TJYWeIOttrVc98/R1BUFWu3/LiyKgUfQM',
    'gitlab.com eUXGGm1YGsMAS7vkcx6JOJdOGHPem5gQp4taiCfCLB8',
    'gitlab.com HbW3g8zUjNSksFbqTiUWPWg2Bq1x8xdGUrliXFzSnUw',
    'bitbucket.org ybgmFkzwOSotHTHLJgHO0QN8L0xErw6vd0VhFA9m3SM',
    'bitbucket.org FC73VB6C4OQLSCrjEayhMp9UMxS97caD/Yyi2bhW/J0',
    'ssh.dev.azure.com ohD8VZEXGWo6Ez8GSEJQ9WpafgLFsOfLOtGGQCQo6Og',
  ]);
});

test('a host that the operator names is known by the operator’s key alone', () => {
  const file = knownHostsFile(
    readKnownHosts(`GitHub.com,140.82.121.4 ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ9fXkbR\n${own}`) ?? [],
  );
  assert.equal(file.match(/github\.com/gi)?.length, 1);
  assert.match(file, /^git\.example\.com /m);
  assert.match(file, /^gitlab\.com /m);
});

test('reads what ssh-keyscan prints, hashed and marked hosts too, and nothing else', () => {
  const scanned = `# git.example.com:22 SSH-2.0-OpenSSH_9.2\r\n${own} comment\r\n\n@revoked * ssh-rsa AAAAB3==\n|1|a/b+c=|d= ssh-rsa AAAA\n`;
  assert.equal(readKnownHosts(scanned)?.length, 3);
  for (const text of [
    'git.example.com',
    'ssh-ed25519 AAAA',
    '/etc/ssh/ssh_known_hosts',
    `${own}\nProxyCommand id`,
  ])
    assert.equal(readKnownHosts(text), undefined, text);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agentLook, isolationTexts, limitsText, loadText, startCommand } from './agent-words.ts';

const isolation = {
  hasNamespaces: false,
  hasOwnUsers: true,
  hasSystemCallFilter: true,
  hasControlGroups: false,
  network: 'host' as const,
  controllers: [],
  problem: 'User namespaces are switched off',
  limits: {
    processes: 2048,
    openFiles: 16_384,
    memoryMegabytes: 8192,
    diskMegabytes: 900,
    fileMegabytes: 900,
  },
};

test('an agent is online, offline, or was never started', () => {
  assert.equal(agentLook({ status: 'ACTIVE', version: '1.0.0' }).word, 'Online');
  assert.equal(agentLook({ status: 'INACTIVE', version: '1.0.0' }).word, 'Offline');
  assert.equal(agentLook({ status: 'INACTIVE' }).word, 'Never started');
});

test('the load of an agent is its slots and what waits for it', () => {
  const health = { running: 1, slots: 2, queued: 0, problems: [] };
  assert.equal(loadText({ health }), '1 of 2 slots in use');
  assert.equal(loadText({ health: { ...health, queued: 1 } }), '1 of 2 slots in use, 1 job waits');
  assert.equal(loadText({ health: { ...health, queued: 3 } }), '1 of 2 slots in use, 3 jobs wait');
  assert.equal(loadText({}), '–');
});

test('missing isolation is reported, with its reason', () => {
  const texts = isolationTexts(isolation);
  assert.ok(texts.includes('A run sees the files of the machine.'));
  assert.equal(texts.at(-1), 'User namespaces are switched off');
  assert.equal(limitsText(isolation), '8 GB of memory, 900 MB of disk, 2048 processes, 16384 open files');
});

test('the command that starts an agent has its key and no secret', () => {
  assert.match(
    startCommand('https://envarium.example.com', 'KEY'),
    /^ENVARIUM_URL='https:\/\/envarium\.example\.com' ENVARIUM_AGENT_KEY='KEY' .* npm run agent$/,
  );
});

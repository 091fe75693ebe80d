import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { testApp } from '../../testing/app.ts';
import { ok } from '../../testing/client.ts';
import { goodPassword, TestBrowser } from '../../testing/person.ts';
import { handOverFirstKey } from './hand-over-first-key.ts';

const firstKey = { id: 'first', secret: 'planted-secret' };

async function shownOn(isTTY: boolean, address: string, key: typeof firstKey | null = firstKey) {
  const dataFolder = await mkdtemp(join(tmpdir(), 'envarium-first-'));
  let text = '';
  const write = (more: string) => (text += more);
  try {
    await handOverFirstKey({ firstKey: key, dataFolder, address }, { isTTY, write });
    const file = join(dataFolder, 'first-admin-key.env');
    const mode = await stat(file).then(
      (found) => found.mode & 0o777,
      () => null,
    );
    return { text, mode, content: mode === null ? null : await readFile(file, 'utf8') };
  } finally {
    await rm(dataFolder, { recursive: true });
  }
}

test('on a terminal, the key is shown with the address at which it creates the first account', async () => {
  const { text, content } = await shownOn(true, 'https://envarium.example.com/tools/');
  assert.match(text, /^ENVARIUM_API_KEY=first\nENVARIUM_API_SECRET=planted-secret$/m);
  assert.match(text, /^https:\/\/envarium\.example\.com\/tools\/first-start#first:planted-secret$/m);
  assert.equal(content, null);
});

test('elsewhere, the key is in a file of its owner only, and the address is shown without it', async () => {
  const { text, mode, content } = await shownOn(false, 'http://127.0.0.1:3000');
  assert.match(text, /first-admin-key\.env; with it, http:\/\/127\.0\.0\.1:3000\/first-start creates/);
  assert.ok(!text.includes('planted-secret'));
  assert.deepEqual([mode, content], [0o600, 'ENVARIUM_API_KEY=first\nENVARIUM_API_SECRET=planted-secret\n']);
});

test('a service that listens on all addresses is opened on this machine', async () => {
  for (const address of ['http://0.0.0.0:3000', 'http://[::]:3000'])
    assert.match((await shownOn(true, address)).text, /^http:\/\/localhost:3000\/first-start#/m);
});

test('later starts show nothing', async () => {
  assert.deepEqual(await shownOn(true, 'http://127.0.0.1:3000', null), {
    text: '',
    mode: null,
    content: null,
  });
});

test('it is the first start until a person has an account, which the first key creates', async () => {
  const app = await testApp();
  const isFirstStart = async () => (await ok(app, 'listSignInMethods', { as: null })).isFirstStart;
  assert.equal(await isFirstStart(), true);
  const { organizationId } = app;
  await ok(app, 'createInvitation', { body: { email: 'guest@example.com', organizationId } });
  assert.equal(await isFirstStart(), true, 'no one has accepted the invitation yet');
  const email = 'ada@example.com';
  await ok(app, 'createAdmin', { body: { email, name: 'Ada', password: goodPassword } });
  assert.equal(await isFirstStart(), false);
  await new TestBrowser(app).signIn(email);
});

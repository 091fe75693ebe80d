import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { freePort } from '../../tools/suite/free-port.ts';
import { startNginx } from '../nginx.ts';
import { findProgram } from '../programs.ts';
import { removeScratch, scratchFolder } from '../service.ts';
import { complaintsOf, openPage, signIn, startBrowser, startWebService, withoutBrowser } from './browser.ts';

const withoutProxy = (await findProgram('nginx')) === null ? 'no nginx on the PATH' : false;

/** A nginx that hands on what is below /envarium: at the first port with the path, at the second one without. */
async function startProxy(folder: string, to: string, [keeping, removing]: readonly [number, number]) {
  await mkdir(folder);
  const location = (path: string, target: string) =>
    `location ${path} { proxy_pass ${target}; proxy_set_header Host $http_host; proxy_http_version 1.1; proxy_buffering off; }`;
  return startNginx(
    folder,
    keeping,
    `server { listen 127.0.0.1:${keeping}; ${location('/envarium', to)} }
     server { listen 127.0.0.1:${removing}; ${location('/envarium/', `${to}/`)} }\n`,
  );
}

const asPerson = { accept: 'text/html' };

test('everything works below a path, whether or not the proxy removes it', {
  skip: withoutBrowser || withoutProxy,
}, async (t) => {
  const [keeping, removing, own] = [await freePort(), await freePort(), await freePort()];
  const base = `http://127.0.0.1:${keeping}/envarium`;
  const folder = await scratchFolder();
  t.after(() => removeScratch(folder));
  await using _proxy = await startProxy(join(folder, 'proxy'), `http://127.0.0.1:${own}`, [
    keeping,
    removing,
  ]);
  await using service = await startWebService({
    folder,
    settings: {
      ENVARIUM_PORT: String(own),
      ENVARIUM_BASE_URL: base,
      ENVARIUM_TRUSTED_PROXIES: '127.0.0.1',
      ENVARIUM_ALLOWED_ORIGINS: `http://127.0.0.1:${removing},http://127.0.0.1:${own}`,
    },
  });
  assert.equal(service.url, base);
  await using browser = await startBrowser();
  for (const address of [base, ...[removing, own].map((port) => `http://127.0.0.1:${port}/envarium`)]) {
    const page = await openPage(browser);
    const complaints = complaintsOf(page);
    await signIn(page, address);
    assert.match(page.url(), new RegExp(`^${address}/`));
    await page.goto(`${address}/environments?name=x`);
    await page.getByRole('navigation', { name: 'Main' }).waitFor();
    assert.equal(page.url(), `${address}/environments?name=x`, 'a deep link stays what it is');
    const [cookie] = await page.context().cookies();
    assert.deepEqual([cookie?.name, cookie?.path, cookie?.httpOnly], ['envarium-session', '/', true]);
    assert.deepEqual(complaints, []);
    await page.context().close();
  }
  for (const url of [`${base}`, `${base}/`, `${base}/a/b`, `http://127.0.0.1:${own}/a/b`])
    assert.match(await (await fetch(url, { headers: asPerson })).text(), /<base href="\/envarium\/"/, url);
  assert.match(await (await fetch(`${base}/reference`)).text(), /href="\/envarium\/api\/openapi\.json"/);
  assert.equal((await fetch(`http://127.0.0.1:${own}/envariums/api/openapi.json`)).status, 401);
  const [organization] = await service.client.call('listOrganizations');
  const { link } = await service.client.call('createInvitation', {
    body: { email: 'bob@example.com', organizationId: organization?.id ?? '' },
  });
  assert.ok(link?.startsWith(`${base}/invitation#`), link);
});

/** The size of a file as a browser gets it that knows gzip only. */
async function gzipBytes(url: string): Promise<number> {
  const { headers } = await fetch(url, { method: 'HEAD', headers: { 'accept-encoding': 'gzip' } });
  return Number(headers.get('content-length'));
}

/** Of script until the first page can be used. */
const mostBytes = 200 * 1024;

test('a first visit loads little script, nothing from another host, and a second one only what may have changed', {
  skip: withoutBrowser,
}, async () => {
  await using service = await startWebService();
  await using browser = await startBrowser();
  const page = await openPage(browser);
  const complaints = complaintsOf(page);
  await signIn(page, service.url);
  const requests: string[] = [];
  page.on('request', (request) => requests.push(request.url()));
  const finished: string[] = [];
  page.on('requestfinished', (request) => finished.push(request.url()));
  await page.goto(service.url);
  await page.getByRole('heading', { level: 1 }).waitFor();
  const scripts = requests.filter((url) => url.endsWith('.js'));
  assert.ok(scripts.length > 0);
  const sizes = await Promise.all(scripts.map(gzipBytes));
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const list = scripts.map((url, index) => `${sizes[index]} ${url.replace(service.url, '')}`);
  assert.ok(total <= mostBytes, `${total} bytes:\n${list.join('\n')}`);
  assert.deepEqual(
    requests.filter((url) => !url.startsWith(`${service.url}/`) && !url.startsWith('data:')),
    [],
  );
  // Preloaded files may still be loading.
  const loaded = new Set(finished);
  const fromServer: string[] = [];
  page.on('response', (response) => {
    const isFile = new URL(response.url()).pathname.startsWith('/assets/');
    if (isFile && !response.fromServiceWorker())
      void response
        .request()
        .sizes()
        .then(({ responseBodySize }) => {
          if (responseBodySize > 0 && loaded.has(response.url())) fromServer.push(response.url());
        });
  });
  await page.goto(`${service.url}/`);
  await page.getByRole('heading', { level: 1 }).waitFor();
  assert.deepEqual(fromServer, []);
  assert.deepEqual(complaints, []);
});

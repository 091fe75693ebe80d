import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { connect as connectTls, type SecureVersion } from 'node:tls';
import type { FastifyInstance } from 'fastify';
import { withoutOpenssl } from '../../../../../agent/testing/certificates.ts';
import { until } from '../../../../../tools/suite/until.ts';
import { type TestApp, testApp } from '../../../../testing/app.ts';
import { readSettings, SettingsError } from '../../../ground/config/config.ts';
import { closeApp } from './stop.ts';
import { readPair, secure } from './tls.ts';

const needsOpenssl = {
  skip: withoutOpenssl,
  timeout: 60_000,
};
const folder = mkdtempSync(join(tmpdir(), 'envarium-tls-'));
after(() => rmSync(folder, { recursive: true }));

interface Files {
  readonly cert: string;
  readonly key: string;
}

/** A certificate that has signed itself. */
function makePair(name: string, ...algorithm: string[]): Files {
  const files = { cert: join(folder, `${name}.pem`), key: join(folder, `${name}.key`) };
  const usual = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'];
  const kind = [...(algorithm.length > 0 ? algorithm : usual), '-nodes'];
  const places = ['-keyout', files.key, '-out', files.cert];
  const names = ['-subj', `/CN=${name}`, '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
  execFileSync('openssl', ['req', '-x509', ...kind, ...places, ...names, '-days', '2'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  return files;
}

const settingsOf = ({ cert, key }: Files) => ({
  ENVARIUM_TLS_CERT_FILE: cert,
  ENVARIUM_TLS_KEY_FILE: key,
});

async function serve(files: Files, settings: Record<string, string> = {}) {
  const app = await testApp({ ENVARIUM_LOG_LEVEL: 'info', ...settingsOf(files), ...settings });
  const { port } = new URL(await app.listen());
  return { ...app, port: Number(port) };
}

/** Prepares a server without an app. */
function secureAlone(files: Files, context: TestApp['context']) {
  const settings = readSettings(settingsOf(files));
  const server = createHttpsServer();
  const hooks: (() => Promise<void>)[] = [];
  const addHook = (_: 'onClose', hook: () => Promise<void>) => void hooks.push(hook);
  const app = { server, addHook } as unknown as FastifyInstance;
  secure(app, { ...context, settings }, readPair(settings) ?? assert.fail('the settings name no pair'));
  return { server, close: () => Promise.all(hooks.map((hook) => hook())) };
}

/** Sends a request. @returns the answer, the name in the certificate, and the version of TLS */
async function ask(port: number, maxVersion: SecureVersion = 'TLSv1.3') {
  const socket = connectTls({
    port,
    host: '127.0.0.1',
    rejectUnauthorized: false,
    minVersion: 'TLSv1',
    maxVersion,
    ciphers: 'ALL:@SECLEVEL=0',
  });
  await once(socket, 'secureConnect');
  const name = String(socket.getPeerCertificate().subject.CN);
  const version = socket.getProtocol();
  socket.end('GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n');
  return { answer: await text(socket), name, version };
}

const logOf = ({ logged }: Pick<TestApp, 'logged'>) => logged.join('');

test(
  'the service speaks TLS 1.2 and 1.3, no older version, and browsers are to stay with it',
  needsOpenssl,
  async () => {
    const files = makePair('first');
    const { port } = await serve(files);
    for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
      const seen = await ask(port, version);
      assert.match(seen.answer, /^HTTP\/1\.1 200 OK\r\n/);
      assert.match(seen.answer, /strict-transport-security: max-age=31536000\r\n/);
      assert.deepEqual([seen.name, seen.version], ['first', version]);
    }
    await assert.rejects(ask(port, 'TLSv1.1'), /alert protocol version|unsupported protocol/);
    const strict = await serve(files, { ENVARIUM_TLS_MIN_VERSION: '1.3' });
    await assert.rejects(ask(strict.port, 'TLSv1.2'), /alert protocol version/);
    assert.equal((await ask(strict.port)).version, 'TLSv1.3');
  },
);

test(
  'plain HTTP and other bytes on this port get an answer that says so; later callers are served',
  needsOpenssl,
  async () => {
    const files = makePair('plain');
    const { port } = await serve(files);
    const response = await fetch(`http://127.0.0.1:${port}/api/organizations`);
    assert.equal(response.status, 400);
    const { message, code } = (await response.json()) as { message: string; code: string };
    assert.deepEqual(
      [code, message],
      ['bad_request', 'This port speaks HTTPS only: use an https:// address'],
    );
    for (const bytes of ['\0', 'SSH-2.0-x\r\n', '\n\n\n']) {
      const socket = connect(port, '127.0.0.1').on('error', () => undefined);
      socket.end(bytes);
      assert.match(await text(socket), /^HTTP\/1\.1 400 Bad Request\r\n/, JSON.stringify(bytes));
    }
    for (const bytes of [Buffer.from([22, 3, 1, 0, 5, 1, 2, 3, 4, 5]), Buffer.from([22]), Buffer.alloc(0)]) {
      const socket = connect(port, '127.0.0.1').on('error', () => undefined);
      socket.end(bytes);
      socket.resume();
      await once(socket, 'close');
    }
    assert.match((await ask(port)).answer, /^HTTP\/1\.1 200 /);
  },
);

test('a handshake that arrives byte by byte succeeds', needsOpenssl, async (t) => {
  const { port } = await serve(makePair('slow'));
  const relay = createServer({ allowHalfOpen: true }, (near) => {
    const far = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).setNoDelay(true);
    far.pipe(near);
    near.on('data', (bytes: Buffer) => {
      for (let at = 0; at < bytes.length; at++) far.write(bytes.subarray(at, at + 1));
    });
    near.on('end', () => far.end());
  }).listen(0, '127.0.0.1');
  t.after(() => relay.close());
  await once(relay, 'listening');
  assert.match((await ask((relay.address() as AddressInfo).port)).answer, /^HTTP\/1\.1 200 /);
});

test(
  'a replaced certificate is used without a restart; open connections continue',
  needsOpenssl,
  async () => {
    const files = makePair('before');
    const served = await serve(files);
    const kept = connectTls({ port: served.port, host: '127.0.0.1', ca: readFileSync(files.cert) });
    await once(kept, 'secureConnect');
    const next = makePair('after');
    renameSync(next.cert, files.cert);
    // Time in which the service could look at half of the change.
    await delay(50);
    renameSync(next.key, files.key);
    await until('the new certificate', async () => (await ask(served.port)).name === 'after');
    assert.match(logOf(served), /"msg":"new certificate in use"/);
    assert.doesNotMatch(logOf(served), /cannot be used/, 'half of a change causes no error');
    kept.end('GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
    assert.match(await text(kept), /^HTTP\/1\.1 200 /);
  },
);

test('a broken new pair keeps the former one, and the log names the file once', needsOpenssl, async () => {
  const files = makePair('whole');
  const served = await serve(files);
  const other = makePair('foreign');
  const good = readFileSync(files.cert);
  writeFileSync(files.cert, 'no certificate');
  await until('the error', () => logOf(served).includes('"level":50'));
  assert.ok(
    logOf(served).includes(
      `ENVARIUM_TLS_CERT_FILE names ${files.cert}, which contains no certificate (PEM).`,
    ),
  );
  renameSync(other.key, files.key);
  writeFileSync(files.cert, good);
  await until('the second error', () => logOf(served).includes('is not that of the first certificate'));
  rmSync(files.cert);
  await until('the third error', () => logOf(served).includes('cannot be read: ENOENT'));
  const before = served.logged.length;
  writeFileSync(join(folder, 'something else'), 'x');
  // Time in which the service looks again: nothing tells that it found the same error.
  await delay(800);
  assert.equal(served.logged.length, before, 'the same error is logged once');
  const { port } = served;
  const socket = connectTls({ port, host: '127.0.0.1', ca: good });
  await once(socket, 'secureConnect');
  assert.equal(socket.getPeerCertificate().subject.CN, 'whole');
  socket.destroy();
  assert.doesNotMatch(logOf(served), /PRIVATE KEY/);
});

test(
  'a change that the system does not tell about is found when the service looks',
  needsOpenssl,
  async (t) => {
    const first = makePair('linked');
    const [old, now] = [join(folder, 'v1'), join(folder, 'v2')];
    for (const version of [old, now]) mkdirSync(version);
    const second = makePair('relinked');
    for (const [pair, to] of [
      [first, old],
      [second, now],
    ] as const) {
      renameSync(pair.cert, join(to, 'tls.crt'));
      renameSync(pair.key, join(to, 'tls.key'));
    }
    const [link, place] = [join(folder, 'current'), join(folder, 'mounted')];
    symlinkSync(old, link);
    mkdirSync(place);
    symlinkSync(join(link, 'tls.crt'), join(place, 'tls.crt'));
    symlinkSync(join(link, 'tls.key'), join(place, 'tls.key'));
    const { context } = await testApp();
    t.mock.timers.enable({ apis: ['setInterval'] });
    const { server, close } = secureAlone(
      { cert: join(place, 'tls.crt'), key: join(place, 'tls.key') },
      context,
    );
    const { mock } = t.mock.method(server, 'setSecureContext');
    const used = () => mock.calls.map(({ arguments: [options] }) => options.cert);
    rmSync(link);
    symlinkSync(now, link);
    t.mock.timers.tick(29_999);
    assert.deepEqual(used(), []);
    t.mock.timers.tick(1);
    assert.deepEqual(used(), [readFileSync(join(now, 'tls.crt'), 'utf8')]);
    // Later looks find nothing new.
    t.mock.timers.tick(90_000);
    assert.equal(used().length, 1);
    await close();
  },
);

test('files that cannot be used are refused at the start, by setting and file', needsOpenssl, () => {
  const good = makePair('good');
  const other = makePair('another');
  const at = (name: string, content: string) => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
  const locked = join(folder, 'locked.key');
  execFileSync('openssl', ['pkey', '-in', good.key, '-aes256', '-passout', 'pass:word', '-out', locked]);
  const weak = makePair('weak', '-newkey', 'rsa:1024');
  const cases: [Files, RegExp][] = [
    [
      { ...good, cert: join(folder, 'none') },
      /^ENVARIUM_TLS_CERT_FILE names .*none, which cannot be read: ENOENT/,
    ],
    [
      { ...good, key: join(folder, 'none') },
      /^ENVARIUM_TLS_KEY_FILE names .*none, which cannot be read: ENOENT/,
    ],
    [{ ...good, cert: folder }, /^ENVARIUM_TLS_CERT_FILE names .*cannot be read: EISDIR/],
    [
      { ...good, cert: at('empty', '') },
      /^ENVARIUM_TLS_CERT_FILE names .*empty, which contains no certificate/,
    ],
    [{ ...good, cert: good.key }, /^ENVARIUM_TLS_CERT_FILE names .*which contains no certificate/],
    [{ ...good, key: good.cert }, /^ENVARIUM_TLS_KEY_FILE names .*which contains no private key/],
    [{ ...good, key: locked }, /^ENVARIUM_TLS_KEY_FILE names .*locked\.key, whose key is encrypted/],
    [{ ...good, key: other.key }, /^The key in .*another\.key \(ENVARIUM_TLS_KEY_FILE\) is not that of/],
    [weak, /^TLS cannot use the certificates in .*weak\.pem .*key too small/],
  ];
  for (const [files, message] of cases)
    assert.throws(
      () => readPair(readSettings(settingsOf(files))),
      (error) => error instanceof SettingsError && message.test(error.message),
      String(message),
    );
  assert.throws(() => readSettings({ ENVARIUM_TLS_CERT_FILE: good.cert }), /belong together/);
  assert.throws(() => readSettings({ ENVARIUM_TLS_KEY_FILE: good.key }), /belong together/);
  assert.throws(() => readSettings({ ENVARIUM_TLS_MIN_VERSION: '1.1' }), /must be one of 1\.2, 1\.3/);
});

test('a certificate that has expired is used, and the log says so', needsOpenssl, async () => {
  const { context, logged } = await testApp();
  const late = () => new Date(Date.now() + 3 * 86_400_000);
  await secureAlone(makePair('old'), { ...context, now: late }).close();
  assert.match(logOf({ logged }), /"level":40.*"file":".*old\.pem".*"msg":"the certificate has expired"/);
});

test(
  'a server with TLS stops at once although connections are open that were never used',
  needsOpenssl,
  async () => {
    const files = makePair('stopping');
    const { app, port } = await serve(files);
    const plain = connect(port, '127.0.0.1');
    const secured = connectTls({ port, host: '127.0.0.1', ca: readFileSync(files.cert) });
    await Promise.all([once(plain, 'connect'), once(secured, 'secureConnect')]);
    const sockets = [plain, secured];
    for (const socket of sockets) socket.on('error', () => undefined).resume();
    const ended = Promise.all(sockets.map((socket) => once(socket, 'close')));
    const started = performance.now();
    await closeApp(app);
    await ended;
    assert.ok(performance.now() - started < 5000);
  },
);

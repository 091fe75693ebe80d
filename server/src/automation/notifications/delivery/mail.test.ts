import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, type TestContext, test } from 'node:test';
import { setDefaultCACertificates } from 'node:tls';
import { SMTPServer } from 'smtp-server';
import { Secret } from '#settings/secret.ts';
import { makeAuthority, withoutOpenssl } from '../../../../../agent/testing/certificates.ts';
import { type MailSettings, sendMail } from './mail.ts';

const folder = mkdtempSync(join(tmpdir(), 'envarium-mail-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const authority = withoutOpenssl ? null : makeAuthority(folder);
const needsAuthority = { skip: withoutOpenssl };

function trustAuthority(): void {
  setDefaultCACertificates([readFileSync(authority?.file ?? '', 'utf8')]);
}

interface Arrived {
  readonly from: string;
  readonly to: readonly string[];
  readonly user: string | undefined;
  readonly isSecure: boolean;
  readonly text: string;
}

/** A mail server. @param tls absent: it does not offer TLS @param refused codes by recipient */
async function mailServer(
  t: TestContext,
  tls?: { readonly secure: boolean },
  refused: Readonly<Record<string, number>> = {},
) {
  const arrived: Arrived[] = [];
  const server = new SMTPServer({
    authOptional: true,
    ...(tls ? { ...authority?.server, ...tls } : { disabledCommands: ['STARTTLS'] }),
    onAuth: ({ username, password }, _session, done) =>
      password === 'open sesame'
        ? done(null, { user: username })
        : done(new Error('Invalid username or password')),
    onRcptTo: ({ address }, _session, done) => {
      const responseCode = refused[address];
      done(responseCode === undefined ? null : Object.assign(new Error('not this one'), { responseCode }));
    },
    onData: (stream, { envelope: { mailFrom, rcptTo }, user, secure: isSecure }, done) => {
      const store = async () => {
        const content = await text(stream);
        const from = mailFrom === false ? '' : mailFrom.address;
        const to = rcptTo.map(({ address }) => address);
        arrived.push({ from, to, user: user as string | undefined, isSecure, text: content });
        done(null);
      };
      void store();
    },
  });
  const listening = server.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  t.after(
    () =>
      new Promise<void>((resolve) => {
        server.close(resolve);
      }),
  );
  return { port: (listening.address() as AddressInfo).port, arrived };
}

function settingsFor(port: number, more: Partial<MailSettings> = {}): MailSettings {
  return {
    smtpHost: '127.0.0.1',
    smtpPort: port,
    smtpTls: 'required',
    smtpUser: undefined,
    smtpPassword: undefined,
    smtpFrom: 'Envarium <envarium@example.com>',
    ...more,
  };
}

const mail = {
  to: ['ada@example.com', 'team@example.com'],
  subject: 'Deploy failed',
  text: 'Why\n',
  id: 'event',
};
const send = (settings: MailSettings, message = mail) =>
  sendMail(settings, message, new AbortController().signal);
const signIn = { smtpUser: 'envarium', smtpPassword: new Secret('open sesame') };

test('an e-mail arrives over STARTTLS, with the user of the settings', needsAuthority, async (t) => {
  trustAuthority();
  const { port, arrived } = await mailServer(t, { secure: false });
  const { error, response, request } = await send(settingsFor(port, signIn), mail);
  assert.equal(error, null);
  assert.equal(response?.status, 250);
  assert.equal(request?.address, 'ada@example.com, team@example.com');
  const [got] = arrived;
  assert.ok(got);
  assert.deepEqual(
    [got.from, got.to, got.user, got.isSecure],
    ['envarium@example.com', mail.to, 'envarium', true],
  );
  assert.match(got.text, /^Subject: Deploy failed\r$/m);
  assert.match(got.text, /^Message-ID: <event@envarium>\r$/m);
  assert.match(got.text, /\r\n\r\nWhy\r\n$/);
});

test('an e-mail arrives over TLS from the first byte', needsAuthority, async (t) => {
  trustAuthority();
  const { port, arrived } = await mailServer(t, { secure: true });
  assert.equal((await send(settingsFor(port, { smtpTls: 'implicit' }), mail)).error, null);
  assert.equal(arrived[0]?.isSecure, true);
});

test('a server without TLS gets nothing where TLS is required, and mail where it is not', async (t) => {
  const { port, arrived } = await mailServer(t);
  const { error } = await send(settingsFor(port), mail);
  assert.equal(error?.type, 'ssl-error');
  assert.match(error.message, /does not offer TLS \(STARTTLS\), which ENVARIUM_SMTP_TLS=required demands/);
  assert.deepEqual(arrived, []);
  assert.equal((await send(settingsFor(port, { smtpTls: 'opportunistic' }), mail)).error, null);
  assert.equal(arrived.length, 1);
});

test('a certificate that is not trusted is an error of TLS', needsAuthority, async (t) => {
  setDefaultCACertificates([]);
  const { port, arrived } = await mailServer(t, { secure: false });
  const { error } = await send(settingsFor(port), mail);
  assert.equal(error?.type, 'ssl-error', error?.message);
  assert.deepEqual(arrived, []);
});

test('an error that the server answers does not show the password', needsAuthority, async (t) => {
  trustAuthority();
  const { port } = await mailServer(t, { secure: false });
  const wrong = { smtpUser: 'envarium', smtpPassword: new Secret('wrong password') };
  const { error, response } = await send(settingsFor(port, wrong), mail);
  assert.match(error?.message ?? '', /The mail server refused it: .*535/);
  assert.equal(response?.status, 535);
  assert.doesNotMatch(JSON.stringify([error, response]), /wrong password/);
});

test('recipients that the server refuses are named, and the others get the e-mail', async (t) => {
  const [ada, team] = mail.to as [string, string];
  const sent = async (refused: Readonly<Record<string, number>>) => {
    const { port, arrived } = await mailServer(t, undefined, refused);
    const { error, isFinal, deliveredTo } = await send(settingsFor(port, { smtpTls: 'opportunistic' }));
    return [arrived.map(({ to }) => to), error?.message, isFinal, deliveredTo];
  };
  const word = 'The mail server refused';
  assert.deepEqual(await sent({ [team]: 550 }), [
    [[ada]],
    `${word} 1 of 2 recipients: ${team}: 550 not this one`,
    true,
    [ada],
  ]);
  assert.deepEqual(await sent({ [ada]: 450 }), [
    [[team]],
    `${word} 1 of 2 recipients: ${ada}: 450 not this one`,
    undefined,
    [team],
  ]);
  const both = `${ada}: 450 not this one; ${team}: 550 not this one`;
  assert.deepEqual(await sent({ [ada]: 450, [team]: 550 }), [
    [],
    `${word} all recipients: ${both}`,
    undefined,
    undefined,
  ]);
});

test('a mailbox is recognized however the mail server writes it, and no one counts as reached without certainty', async (t) => {
  const to = ['ops@bücher.example', 'b@example.com'];
  const sent = async (refused: Readonly<Record<string, number>>) => {
    const { port } = await mailServer(t, undefined, refused);
    const { isFinal, deliveredTo } = await send(settingsFor(port, { smtpTls: 'opportunistic' }), {
      ...mail,
      to,
    });
    return [isFinal, deliveredTo];
  };
  const [inWords = '', other = ''] = to;
  const inAscii = 'ops@xn--bcher-kva.example';
  assert.deepEqual(await sent({ [inWords]: 451, [inAscii]: 451 }), [undefined, [other]]);
  assert.deepEqual(await sent({ [inWords]: 451, [inAscii]: 451, [other]: 451 }), [undefined, undefined]);
});

test('a line break in a subject makes no header', async (t) => {
  const { port, arrived } = await mailServer(t);
  const subject = 'Deploy failed: x\r\nBcc: everybody@example.com';
  await send(settingsFor(port, { smtpTls: 'opportunistic' }), { ...mail, subject });
  assert.deepEqual(arrived[0]?.to, mail.to);
  assert.doesNotMatch(arrived[0]?.text ?? '', /^Bcc/m);
});

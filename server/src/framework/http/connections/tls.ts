/**
 * TLS of the service's own port, where the settings name a certificate. It and its key are read at the start, and
 * again whenever the files change. A new pair that cannot be used is logged, and the former one stays.
 */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { type FSWatcher, readFileSync, watch } from 'node:fs';
import type { Server } from 'node:https';
import type { Socket } from 'node:net';
import { dirname } from 'node:path';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import type { FastifyInstance } from 'fastify';
import { type ServerSettings, SettingsError } from '../../../ground/config/config.ts';
import type { Context } from '../../context.ts';
import { answerMalformed } from '../replies/render-error.ts';
import { headersMilliseconds, serverTimes } from './time-limits.ts';

/** The first byte of TLS: a record of the handshake. No method of HTTP begins with it. */
const handshakeRecord = 22;

/** Options of the app: a server for HTTP, or one for HTTPS if there is a pair. */
export function serverOptions(settings: Context['settings'], pair: Pair | null) {
  const { http, keepAliveTimeout } = serverTimes;
  if (pair === null) return { http, keepAliveTimeout };
  const secured = { ...http, ...contextOptions(settings, pair), handshakeTimeout: headersMilliseconds };
  return { https: secured, keepAliveTimeout };
}

/** Answers plain HTTP on the port for HTTPS, which TLS itself would only end without a word. */
function answerPlainHttp(server: Server, newId: () => string): void {
  const handshakes = server.listeners('connection');
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    const end = () => socket.destroy();
    socket.setTimeout(headersMilliseconds, end).on('error', end);
    socket.once('readable', () => {
      const first = socket.read(1) as Buffer | null;
      if (first === null) return end();
      socket.setTimeout(0).removeListener('timeout', end);
      if (first[0] !== handshakeRecord)
        return answerMalformed(Object.assign(new Error(), { code: 'PLAIN_HTTP' }), socket, newId());
      socket.unshift(first);
      for (const handshake of handshakes) handshake.call(server, socket);
      return undefined;
    });
  });
}

/** Prepares an app that was made with `serverOptions`: it follows changes of the pair until it closes. */
export function secure(app: FastifyInstance, context: Context, pair: Pair): void {
  const server = app.server as unknown as Server;
  answerPlainHttp(server, context.newId);
  const stop = followPair(context.settings, context, pair, (found) =>
    server.setSecureContext(contextOptions(context.settings, found)),
  );
  app.addHook('onClose', async () => stop());
}

/** Files that are written one after the other belong together. */
const settleMilliseconds = 500;
/** Not every file system tells about changes. */
const lookMilliseconds = 30_000;

type TlsSettings = Pick<ServerSettings, 'tlsCertificateFile' | 'tlsKeyFile' | 'tlsLeastVersion'>;

export interface Pair {
  readonly cert: string;
  readonly key: string;
  /** Of the certificate itself, which comes first in its file. */
  readonly validTo: Date;
}

function readText(name: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new SettingsError([`${name} names ${file}, which cannot be read: ${(error as Error).message}.`]);
  }
}

function readCertificate(file: string, text: string): X509Certificate {
  try {
    return new X509Certificate(text);
  } catch {
    throw new SettingsError([`ENVARIUM_TLS_CERT_FILE names ${file}, which contains no certificate (PEM).`]);
  }
}

function readKey(file: string, text: string): KeyObject {
  try {
    return createPrivateKey(text);
  } catch {
    const reason = text.includes('ENCRYPTED')
      ? 'whose key is encrypted: remove its password'
      : 'which contains no private key (PEM)';
    throw new SettingsError([`ENVARIUM_TLS_KEY_FILE names ${file}, ${reason}.`]);
  }
}

/**
 * Reads the pair that the settings name; null where they name none.
 * @throws SettingsError that names the setting and the file
 */
export function readPair(settings: TlsSettings): Pair | null {
  const { tlsCertificateFile, tlsKeyFile } = settings;
  if (tlsCertificateFile === undefined || tlsKeyFile === undefined) return null;
  const cert = readText('ENVARIUM_TLS_CERT_FILE', tlsCertificateFile);
  const key = readText('ENVARIUM_TLS_KEY_FILE', tlsKeyFile);
  const certificate = readCertificate(tlsCertificateFile, cert);
  if (!certificate.checkPrivateKey(readKey(tlsKeyFile, key)))
    throw new SettingsError([
      `The key in ${tlsKeyFile} (ENVARIUM_TLS_KEY_FILE) is not that of the first certificate in ${tlsCertificateFile} (ENVARIUM_TLS_CERT_FILE).`,
    ]);
  const pair = { cert, key, validTo: certificate.validToDate };
  try {
    createSecureContext(contextOptions(settings, pair));
  } catch (error) {
    throw new SettingsError([
      `TLS cannot use the certificates in ${tlsCertificateFile} (ENVARIUM_TLS_CERT_FILE): ${(error as Error).message}.`,
    ]);
  }
  return pair;
}

/** The pair as Node takes it, with the lowest version of TLS. */
function contextOptions(settings: TlsSettings, { cert, key }: Pair): SecureContextOptions {
  return { cert, key, minVersion: `TLSv${settings.tlsLeastVersion}` };
}

/**
 * Looks for a new pair when something changes in the folders of the files, and regularly.
 * @param pair the one in use
 * @param use gets each new one
 * @returns a function that ends it
 */
function followPair(
  settings: TlsSettings,
  { log, now }: Pick<Context, 'log' | 'now'>,
  pair: Pair,
  use: (pair: Pair) => void,
): () => void {
  let current = pair;
  let reported = '';
  const warnIfOver = () => {
    if (current.validTo <= now())
      log.warn(
        { file: settings.tlsCertificateFile, validTo: current.validTo },
        'the certificate has expired',
      );
  };
  const look = () => {
    try {
      const found = readPair(settings);
      reported = '';
      if (found === null || (found.cert === current.cert && found.key === current.key)) return;
      current = found;
      use(found);
      log.info({ file: settings.tlsCertificateFile, validTo: found.validTo }, 'new certificate in use');
      warnIfOver();
    } catch (error) {
      const reason = (error as Error).message;
      if (reason !== reported)
        log.error({ reason }, 'the new certificate cannot be used: the former one stays');
      reported = reason;
    }
  };
  warnIfOver();
  const timer = setInterval(look, lookMilliseconds).unref();
  let settling: NodeJS.Timeout | undefined;
  const soon = () => {
    clearTimeout(settling);
    settling = setTimeout(look, settleMilliseconds).unref();
  };
  const watchers = watchFolders([settings.tlsCertificateFile, settings.tlsKeyFile], soon);
  return () => {
    clearInterval(timer);
    clearTimeout(settling);
    for (const watcher of watchers) watcher.close();
  };
}

/** Folders, because files are usually replaced. The timer also covers folders that cannot be watched. */
function watchFolders(files: readonly (string | undefined)[], soon: () => void): FSWatcher[] {
  const folders = new Set(files.flatMap((file) => (file === undefined ? [] : [dirname(file)])));
  return [...folders].flatMap((folder) => {
    try {
      const watcher = watch(folder, { persistent: false }, soon);
      watcher.on('error', () => watcher.close());
      return [watcher];
    } catch {
      return [];
    }
  });
}

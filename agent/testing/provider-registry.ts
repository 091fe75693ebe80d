/**
 * For tests: a provider registry that speaks the real protocol (discovery, versions, download, checksums
 * signed by a throw-away key), is also a network mirror (below `/mirror/`) and records its requests. It can
 * send false answers, as a broken or hostile one does.
 */
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createMessage, generateKey, readPrivateKey, sign } from 'openpgp';
import { ownPlatform } from '../src/own/own-platform.ts';
import { zipOf } from './archives.ts';

export interface PackageOptions {
  /** `namespace/type`. */
  readonly name: string;
  readonly version: string;
  /** The program; default: a small script that does nothing. */
  readonly content?: Uint8Array;
  readonly lie?: Lie;
  /** `os_arch`; default: this machine's. */
  readonly platform?: string;
}

/** A fault of a registry with one package. */
export type Lie =
  | 'checksum'
  | 'not in checksums'
  | 'signature'
  | 'other key'
  | 'no key'
  | 'truncated'
  /** Only the first time: the connection is closed after half of the file, or stays open without the rest. */
  | 'cut once'
  | 'stuck once'
  /** No length is reported. */
  | 'no length'
  | 'error'
  | 'slow'
  | 'no package'
  | 'leaves its folder'
  | 'link';

export interface ProviderRegistry extends AsyncDisposable {
  /** `http://127.0.0.1:<port>`. */
  readonly url: string;
  /** The address for `providers.v1` in a `host` block. */
  readonly providers: string;
  /** Requested paths, in order. */
  readonly requests: { readonly path: string; readonly authorization: string | undefined }[];
  /** Number of times that a package's file was sent. */
  downloads(name: string, version?: string): number;
  add(options: PackageOptions): void;
  /** The address that it reports for its files. */
  base(url: string): void;
  /** Refuses all requests from now on; `false` ends this. */
  fail(isFailing?: boolean): void;
}

interface Package extends PackageOptions {
  readonly zip: Buffer;
  readonly file: string;
  readonly platform: string;
}

export const thisPlatform = ownPlatform;
const doesNothing = Buffer.from('#!/bin/sh\nexit 1\n');

function entriesOf({ lie, name, version, content = doesNothing }: PackageOptions) {
  const file = `terraform-provider-${name.split('/')[1] ?? ''}_v${version}`;
  if (lie === 'leaves its folder') return [{ name: '../../planted', content }];
  if (lie === 'link') return [{ name: file, content: Buffer.from('/etc/passwd'), mode: 0o120777 }];
  return [
    { name: 'LICENSE.txt', content: Buffer.from('free\n'), mode: 0o100644 },
    { name: file, content },
  ];
}

async function makeKey() {
  const { privateKey, publicKey } = await generateKey({
    type: 'ecc',
    userIDs: [{ name: 'registry', email: 'registry@localhost' }],
  });
  const key = await readPrivateKey({ armoredKey: privateKey });
  return { publicKey, key, id: key.getKeyID().toHex().toUpperCase() };
}

/**
 * Starts a registry on a free port.
 * @param token the bearer token that every request must contain; absent: none
 */
export async function startProviderRegistry(
  packages: readonly PackageOptions[],
  { token }: { token?: string } = {},
): Promise<ProviderRegistry> {
  const [own, other] = [await makeKey(), await makeKey()];
  const known = new Map<string, Package>();
  const requests: { path: string; authorization: string | undefined }[] = [];
  const sent = new Set<string>();
  let isFailing = false;
  let publicUrl = '';

  const add = (options: PackageOptions): void => {
    const { name, version, platform = thisPlatform } = options;
    const file = `terraform-provider-${name.split('/')[1] ?? ''}_${version}_${platform}.zip`;
    known.set(`${name}/${version}`, { ...options, platform, file, zip: zipOf(entriesOf(options)) });
  };
  for (const options of packages) add(options);

  const sums = ({ zip, file, lie }: Package): string => {
    const sum = createHash('sha256')
      .update(lie === 'checksum' ? 'something else' : zip)
      .digest('hex');
    const others = [`${'a'.repeat(64)}  ${file.replace(/_linux.*/, '_darwin_arm64.zip')}`];
    return [...(lie === 'not in checksums' ? [] : [`${sum}  ${file}`]), ...others, ''].join('\n');
  };

  const describe = (one: Package) => ({
    protocols: ['5.0'],
    os: one.platform.split('_')[0],
    arch: one.platform.split('_')[1],
    filename: one.file,
    download_url: `${publicUrl}/files/${one.name}/${one.version}/${one.file}`,
    shasums_url: `${publicUrl}/files/${one.name}/${one.version}/SHA256SUMS`,
    shasums_signature_url: `${publicUrl}/files/${one.name}/${one.version}/SHA256SUMS.sig`,
    shasum: createHash('sha256')
      .update(one.lie === 'checksum' ? 'something else' : one.zip)
      .digest('hex'),
    signing_keys: {
      gpg_public_keys:
        one.lie === 'no key' ? [] : [{ key_id: own.id, ascii_armor: own.publicKey, trust_signature: '' }],
    },
  });

  const sendZip = (one: Package, response: ServerResponse): void => {
    if (one.lie === 'error') return void response.writeHead(500).end('broken');
    const isFirst = !sent.has(one.file);
    sent.add(one.file);
    if (one.lie === 'stuck once' && isFirst) {
      response.writeHead(200, { 'content-length': one.zip.length });
      response.write(one.zip.subarray(0, one.zip.length / 2));
      return;
    }
    if (one.lie === 'no length') {
      response.writeHead(200, { 'content-type': 'application/zip', 'transfer-encoding': 'chunked' });
      return void response.end(one.zip);
    }
    if (one.lie === 'truncated' || (one.lie === 'cut once' && isFirst)) {
      response.writeHead(200, { 'content-length': one.zip.length });
      response.write(one.zip.subarray(0, one.zip.length / 2));
      return void setImmediate(() => response.destroy());
    }
    if (one.lie === 'slow') {
      response.writeHead(200, { 'content-length': one.zip.length });
      response.write(one.zip.subarray(0, 1));
      return;
    }
    response
      .writeHead(200, { 'content-type': 'application/zip', 'content-length': one.zip.length })
      .end(one.zip);
  };

  const signed = async (one: Package): Promise<Buffer> => {
    const message = await createMessage({
      binary: Buffer.from(one.lie === 'signature' ? `${sums(one)}\n` : sums(one)),
    });
    const signingKeys = one.lie === 'other key' ? other.key : own.key;
    return Buffer.from(
      (await sign({ message, signingKeys, detached: true, format: 'binary' })) as Uint8Array,
    );
  };

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = request.url ?? '/';
    requests.push({ path, authorization: request.headers.authorization });
    if (isFailing) return void response.writeHead(500).end();
    const json = (value: unknown) =>
      void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    if (path === '/.well-known/terraform.json') return json({ 'providers.v1': '/v1/providers/' });
    if (
      token !== undefined &&
      request.headers.authorization !== `Bearer ${token}` &&
      !path.startsWith('/files/')
    )
      return void response.writeHead(401).end();
    const versions = /^\/v1\/providers\/([^/]+\/[^/]+)\/versions$/.exec(path)?.[1];
    if (versions !== undefined) {
      const found = [...known.values()].filter(({ name }) => name === versions);
      if (found.length === 0) return void response.writeHead(404).end();
      const platformsOf = ({ platform }: Package) => [
        { os: platform.split('_')[0], arch: platform.split('_')[1] },
      ];
      return json({
        versions: found.map((one) => ({
          version: one.version,
          protocols: ['5.0'],
          platforms: platformsOf(one),
        })),
      });
    }
    const download = /^\/v1\/providers\/([^/]+\/[^/]+\/[^/]+)\/download\/([^/]+)\/([^/]+)$/.exec(path);
    const wanted = known.get(download?.[1] ?? '');
    if (
      download &&
      wanted &&
      wanted.lie !== 'no package' &&
      wanted.platform === `${download[2]}_${download[3]}`
    )
      return json(describe(wanted));
    const mirrored = /^\/mirror\/[^/]+\/([^/]+\/[^/]+)\/([^/]+)\.json$/.exec(path);
    if (mirrored) {
      const found = [...known.values()].filter((one) => one.name === mirrored[1]);
      const one = found.find(({ version }) => version === mirrored[2]);
      if (mirrored[2] === 'index' && found.length > 0)
        return json({ versions: Object.fromEntries(found.map(({ version }) => [version, {}])) });
      if (!one) return void response.writeHead(404).end();
      const { download_url: file, shasum } = describe(one);
      return json({
        archives: {
          [one.platform]: { url: file, hashes: one.lie === 'not in checksums' ? [] : [`zh:${shasum}`] },
        },
      });
    }
    const [, name, file] = /^\/files\/([^/]+\/[^/]+\/[^/]+)\/(.+)$/.exec(path) ?? [];
    const one = known.get(name ?? '');
    if (!one) return void response.writeHead(404).end();
    if (file === 'SHA256SUMS') response.writeHead(200).end(sums(one));
    else if (file === 'SHA256SUMS.sig') response.writeHead(200).end(await signed(one));
    else sendZip(one, response);
  };

  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  publicUrl = url;
  return {
    url,
    providers: `${url}/v1/providers/`,
    requests,
    downloads: (name, version = '') =>
      requests.filter(({ path }) => path.startsWith(`/files/${name}/${version}`) && path.endsWith('.zip'))
        .length,
    add,
    base: (address) => void (publicUrl = address),
    fail: (failing = true) => void (isFailing = failing),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

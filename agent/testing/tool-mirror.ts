/**
 * For tests: a mirror of tool releases, laid out like the publishers' own, with checksums that a throw-away key
 * signs where the publisher signs them. It can send false answers, as a hostile one does, and counts requests.
 */
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { posix } from 'node:path';
import { createMessage, generateKey, type PrivateKey, readPrivateKey, sign } from 'openpgp';
import { programFacts } from '#protocol/tools/index.ts';
import { type ArchiveRelease, isSigned, type ReleasePlace } from '#protocol/tools/programs/program.ts';
import { ownPlatform } from '../src/own/own-platform.ts';
import { tarOf, zipOf } from './archives.ts';

/** A fault of a mirror with one release. */
export type MirrorLie =
  | 'checksum'
  | 'other bytes'
  | 'signature'
  | 'other key'
  | 'no signature'
  | 'truncated'
  | 'broken off'
  | 'slow'
  | 'no archive'
  | 'no program'
  | 'leaves its folder'
  | 'link'
  | 'link to another'
  | 'too many entries'
  | 'no zip'
  | 'no checksum'
  | 'not for this platform';

export interface Release {
  readonly version: string;
  /** The program; default: a script that prints the version. */
  readonly content?: Uint8Array;
  /** Programs next to it in its archive, by the names of their files. */
  readonly others?: Readonly<Record<string, Uint8Array>>;
  readonly lie?: MirrorLie;
}

export interface ToolMirror extends AsyncDisposable {
  /** `http://127.0.0.1:<port>`. */
  readonly url: string;
  /** Armored. */
  readonly publicKey: string;
  /** Requested paths, in order. */
  readonly requests: { readonly path: string; readonly authorization: string | undefined }[];
  /** The number of requests for paths with this ending. */
  count(ending: string): number;
  add(release: Release): void;
  /** Sets the answer of the index, instead of the list of releases. */
  answerIndex(text: string): void;
  /** Sets the parts of the index, each with a link to the next one. */
  answerPages(texts: readonly string[], nextBase?: string): void;
  /** Answers the next requests with this status. */
  fail(status: number, times: number): void;
  /** Lets slow archives continue. */
  release(): void;
}

/** A script that reports a version as the tool does, and passes other calls to `program`. */
export function scriptOf(version: string, program = '/bin/false'): Buffer {
  const answer = JSON.stringify({
    terraform_version: version,
    platform: ownPlatform,
    clientVersion: { gitVersion: `v${version}` },
  });
  return Buffer.from(
    `#!/bin/sh\nif [ "$1" = version ] || [ "$1" = --version ]; then echo '${answer}'; exit 0; fi\nexec ${program} "$@"\n`,
  );
}

/** @param extra additional versions that only the index knows */
function indexOf(program: string, releases: readonly Release[]): string {
  const platformOf = ({ lie }: Release) => (lie === 'not for this platform' ? 'plan9_mips' : ownPlatform);
  if (sourceOf(program).index.host === 'https://api.github.com')
    return JSON.stringify(
      releases.map((one) => ({
        tag_name: `${program === 'kustomize' ? 'kustomize/' : ''}v${one.version}`,
        assets: [{ name: fileOf(sourceOf(program).archive(one.version, platformOf(one))) }],
      })),
    );
  if (program === 'helm' || program === 'kubectl')
    return releases
      .filter(({ lie }) => lie !== 'not for this platform')
      .map(({ version }) => `v${version}\n`)
      .join('');
  if (program === 'tofu')
    return JSON.stringify({
      versions: releases.map((one) => ({
        id: one.version,
        files: [`tofu_${one.version}_${platformOf(one)}.zip`],
      })),
    });
  const entries = releases.map((one) => {
    const [os, arch] = platformOf(one).split('_');
    return [
      one.version,
      { name: program, version: one.version, builds: [{ name: program, version: one.version, os, arch }] },
    ];
  });
  return JSON.stringify({ name: program, versions: Object.fromEntries(entries) });
}

const archives = new WeakMap<Release, Buffer>();

function archiveOf(program: string, release: Release): Buffer {
  const known = archives.get(release) ?? packed(program, release);
  archives.set(release, known);
  return known;
}

function fileOf({ path }: ReleasePlace): string {
  return path.split('/').at(-1) ?? '';
}

function packed(program: string, release: Release): Buffer {
  const { version, lie, content = scriptOf(version), others: programs = {} } = release;
  const { format, entry } = sourceOf(program).archive(version, ownPlatform);
  if (format === 'program') return Buffer.from(content);
  const pack = format === 'zip' ? zipOf : tarOf;
  if (lie === 'no zip') return Buffer.from('this is not an archive, whatever its name');
  if (lie === 'leaves its folder') return pack([{ name: `../../../${program}`, content }]);
  if (lie === 'link') return pack([{ name: entry, content: Buffer.from('/etc/passwd'), mode: 0o120777 }]);
  const licence = { name: 'LICENSE.txt', content: Buffer.from('free\n'), mode: 0o100644 };
  const others = Array.from({ length: lie === 'too many entries' ? 1001 : 1 }, (_, index) => ({
    ...licence,
    name: `${index}${licence.name}`,
  }));
  const next = Object.entries(programs).map(([name, bytes]) => ({
    name: posix.join(posix.dirname(entry), name),
    content: Buffer.from(bytes),
    mode: lie === 'link to another' ? 0o120777 : 0o100755,
  }));
  const own = { name: entry, content: Buffer.from(content), mode: 0o100755 };
  return pack(lie === 'no program' ? others : [...others, own, ...next]);
}

function sourceOf(program: string): ArchiveRelease {
  const release = programFacts(program)?.release;
  if (release?.kind !== 'archive') throw new Error(`${program} is not published as an archive`);
  return release;
}

async function makeKey(name: string): Promise<{ key: PrivateKey; publicKey: string }> {
  const { privateKey, publicKey } = await generateKey({
    type: 'ecc',
    userIDs: [{ name, email: 'mirror@localhost' }],
  });
  return { key: await readPrivateKey({ armoredKey: privateKey }), publicKey };
}

async function signatureOf(text: string, signingKeys: PrivateKey): Promise<Buffer> {
  return Buffer.from(
    await sign({
      message: await createMessage({ binary: Buffer.from(text) }),
      signingKeys,
      detached: true,
      format: 'binary',
    }),
  );
}

/**
 * Starts a mirror on a free port.
 * @param program one that is published as an archive
 * @param authorization the header that every request must contain; absent: none
 */
export async function startToolMirror(
  program: string,
  releases: readonly Release[],
  { authorization }: { authorization?: string } = {},
): Promise<ToolMirror> {
  const source = sourceOf(program);
  const [own, other] = [await makeKey('Test Mirror'), await makeKey('Somebody Else')];
  const known: Release[] = [...releases];
  const requests: { path: string; authorization: string | undefined }[] = [];
  const released = Promise.withResolvers<void>();
  let index: string | null = null;
  let pages: { texts: readonly string[]; nextBase: string } | null = null;
  let failing = { status: 0, times: 0 };

  const checksumsOf = (release: Release): string => {
    if (release.lie === 'no checksum') return '<html>Please sign in</html>\n';
    const bytes = release.lie === 'checksum' ? Buffer.from('something else') : archiveOf(program, release);
    const sum = createHash('sha256').update(bytes).digest('hex');
    if (source.checksums(release.version, ownPlatform).isBare) return `${sum}\n`;
    const name = (platform: string) => fileOf(source.archive(release.version, platform));
    const lines = [`${'a'.repeat(64)}  ${name('darwin_arm64')}`, `${sum}  ${name(ownPlatform)}`];
    return `${lines.slice(0, release.lie === 'not for this platform' ? 1 : 2).join('\n')}\n`;
  };

  async function serveArchive(release: Release, response: ServerResponse): Promise<void> {
    const { lie } = release;
    const bytes = archiveOf(program, release);
    if (lie === 'no archive') return void response.writeHead(404).end();
    if (lie === 'other bytes')
      return void response.end(
        archiveOf(program, { ...release, content: Buffer.from('#!/bin/sh\necho hostile\n') }),
      );
    if (lie === 'truncated') return void response.end(bytes.subarray(0, bytes.length - 30));
    if (lie !== 'broken off' && lie !== 'slow') return void response.end(bytes);
    response.writeHead(200, { 'content-length': bytes.length });
    response.write(bytes.subarray(0, 20));
    if (lie === 'broken off') return void setImmediate(() => response.destroy());
    await released.promise;
    response.end(bytes.subarray(20));
  }

  async function serveRelease(path: string, release: Release, response: ServerResponse): Promise<boolean> {
    const { version, lie } = release;
    const isAt = (place: ReleasePlace | undefined) => place?.path === path;
    const checksums = checksumsOf(release);
    if (isAt(source.checksums(version, ownPlatform))) {
      const isMissing = !isSigned(source) && lie === 'not for this platform';
      if (isMissing) response.writeHead(404).end();
      else response.end(checksums);
    } else if (isAt(source.signature?.places(version, [])[0])) {
      if (lie === 'no signature') response.writeHead(404).end();
      else
        response.end(
          await signatureOf(
            lie === 'signature' ? 'other text' : checksums,
            lie === 'other key' ? other.key : own.key,
          ),
        );
    } else if (isAt(source.archive(version, ownPlatform))) await serveArchive(release, response);
    else return false;
    return true;
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? '';
    requests.push({ path, authorization: request.headers.authorization });
    if (authorization !== undefined && request.headers.authorization !== authorization)
      return void response.writeHead(401).end();
    if (failing.times-- > 0) return void response.writeHead(failing.status).end();
    if (pages !== null && path.startsWith(source.index.path)) {
      const number = Number(/\bpage=(\d+)$/.exec(path)?.[1] ?? 1);
      const next = `${pages.nextBase}${source.index.path}&page=${number + 1}`;
      const links = number < pages.texts.length ? { link: `<${next}>; rel="next", </last>; rel="last"` } : {};
      return void response.writeHead(200, links).end(pages.texts[number - 1]);
    }
    if (path === source.index.path) {
      const text = index ?? indexOf(program, known);
      const etag = `"${createHash('sha256').update(text).digest('hex').slice(0, 16)}"`;
      if (request.headers['if-none-match'] === etag) return void response.writeHead(304).end();
      return void response.writeHead(200, { 'content-type': 'application/json', etag }).end(text);
    }
    for (const release of known) if (await serveRelease(path, release, response)) return;
    response.writeHead(404).end();
  }

  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    publicKey: own.publicKey,
    requests,
    count: (ending) => requests.filter(({ path }) => path.endsWith(ending)).length,
    add: (release) => void known.push(release),
    answerIndex: (text) => void (index = text),
    answerPages: (texts, nextBase = '') => void (pages = { texts, nextBase }),
    fail: (status, times) => void (failing = { status, times }),
    release: () => released.resolve(),
    async [Symbol.asyncDispose]() {
      released.resolve();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

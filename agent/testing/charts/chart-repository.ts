/**
 * For tests: a chart repository with packages that helm has made, which is a registry of images as well. It
 * counts requests, and can demand credentials.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { toolboxProgram } from '../../../tools/toolbox/places.ts';
import type { Authority } from '../certificates.ts';

export interface ChartRepository extends AsyncDisposable {
  readonly url: string;
  /** The same as a registry: `oci://127.0.0.1:<port>`. */
  readonly registry: string;
  /** Requested paths, in order. */
  readonly requests: string[];
  /** Packages a chart. @param files with Chart.yaml */
  add(files: Readonly<Record<string, string>>): void;
}

export interface RepositoryOptions {
  /** Absent: plain http. */
  readonly authority?: Authority;
  /** `user:password`; absent: everybody may read. */
  readonly credentials?: string;
}

interface Answer {
  readonly type: string;
  readonly body: Buffer;
}

const manifestType = 'application/vnd.oci.image.manifest.v1+json';

function digestOf(bytes: Uint8Array): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}

/** Content of a package in a registry: its manifest by tag and digest, and its parts. */
function imageOf(name: string, version: string, content: Buffer): [string, Answer][] {
  const config = Buffer.from(JSON.stringify({ name, version, apiVersion: 'v2' }));
  const part = (mediaType: string, bytes: Buffer) => ({
    mediaType,
    digest: digestOf(bytes),
    size: bytes.length,
  });
  const manifest = Buffer.from(
    JSON.stringify({
      schemaVersion: 2,
      mediaType: manifestType,
      config: part('application/vnd.cncf.helm.config.v1+json', config),
      layers: [part('application/vnd.cncf.helm.chart.content.v1.tar+gzip', content)],
    }),
  );
  const parts = [config, content].map((body): [string, Answer] => [
    `/v2/${name}/blobs/${digestOf(body)}`,
    { type: 'application/octet-stream', body },
  ]);
  const shown = { type: manifestType, body: manifest };
  return [
    ...parts,
    [`/v2/${name}/manifests/${version}`, shown],
    [`/v2/${name}/manifests/${digestOf(manifest)}`, shown],
  ];
}

/** Starts a repository on 127.0.0.1, whose packages are in a temporary folder. */
export async function startChartRepository(options: RepositoryOptions = {}): Promise<ChartRepository> {
  const { authority, credentials } = options;
  const folder = mkdtempSync(join(tmpdir(), 'charts-'));
  const packages = join(folder, 'packages');
  mkdirSync(packages);
  const images = new Map<string, Answer>([['/v2/', { type: 'application/json', body: Buffer.from('{}') }]]);
  const requests: string[] = [];
  const helm = (...args: string[]) =>
    execFileSync(toolboxProgram('helm') ?? '', args, {
      env: { HOME: folder },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
  const wanted =
    credentials === undefined ? undefined : `Basic ${Buffer.from(credentials).toString('base64')}`;
  const answer = (path: string): Answer | undefined => {
    const tags = /^\/v2\/(.+)\/tags\/list$/.exec(path)?.[1];
    if (tags !== undefined) return tagsOf(tags);
    if (images.has(path)) return images.get(path);
    if (!readdirSync(packages).includes(path.slice(1))) return undefined;
    return { type: 'application/octet-stream', body: readFileSync(join(packages, path.slice(1))) };
  };
  const tagsOf = (name: string): Answer => {
    const prefix = `/v2/${name}/manifests/`;
    const tags = [...images.keys()]
      .filter((path) => path.startsWith(prefix) && !path.includes('sha256:'))
      .map((path) => path.slice(prefix.length));
    return { type: 'application/json', body: Buffer.from(JSON.stringify({ name, tags })) };
  };
  const respond = (request: IncomingMessage, response: ServerResponse) => {
    const path = new URL(request.url ?? '', 'http://host').pathname;
    requests.push(path);
    if (wanted !== undefined && request.headers.authorization !== wanted)
      return response.writeHead(401, { 'www-authenticate': 'Basic realm="charts"' }).end();
    const found = answer(path);
    if (found === undefined) return response.writeHead(404).end();
    const headers = { 'content-type': found.type, 'content-length': found.body.length };
    response.writeHead(200, { ...headers, 'docker-content-digest': digestOf(found.body) });
    return response.end(request.method === 'HEAD' ? undefined : found.body);
  };
  const server = authority ? createSecureServer(authority.server, respond) : createServer(respond);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  helm('repo', 'index', packages);
  return {
    url: `${authority ? 'https' : 'http'}://${host}`,
    registry: `oci://${host}`,
    requests,
    add(files) {
      const chart = mkdtempSync(join(folder, 'chart-'));
      for (const [name, content] of Object.entries(files)) {
        mkdirSync(dirname(join(chart, name)), { recursive: true });
        writeFileSync(join(chart, name), content);
      }
      helm('package', chart, '--destination', packages);
      helm('repo', 'index', packages);
      for (const file of readdirSync(packages)) {
        const [, name, version] = /^(.+)-(\d+\.\d+\.\d+)\.tgz$/.exec(file) ?? [];
        if (name === undefined || version === undefined) continue;
        for (const [path, shown] of imageOf(name, version, readFileSync(join(packages, file))))
          images.set(path, shown);
      }
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

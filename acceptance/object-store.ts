/**
 * A real server of the S3 protocol (moto), where the machine has one: what a `backend "s3"` of users' code
 * talks to.
 */
import { spawn } from 'node:child_process';
import { pythonProgram } from '../tools/toolbox/places.ts';
import { findProgram } from './programs.ts';
import { until } from './runs.ts';
import { freePort } from '../agent/src/testing/free-port.ts';

const program = 'moto_server';

/** The program of the toolbox's own environment, else one on the PATH. */
async function findServer(): Promise<string | null> {
  return pythonProgram('moto') ?? findProgram(program);
}

/**
 * Options of a test that needs the server. @throws Error where `TOOLBOX_REQUIRED` is set and it is missing
 */
export async function withObjectStore(): Promise<{ skip: string | false }> {
  if (await findServer()) return { skip: false };
  const reason = `needs ${program}: "npm run toolbox -- moto" installs it from PyPI`;
  if (process.env.TOOLBOX_REQUIRED)
    throw new Error(`This test ${reason}. It is not skipped where TOOLBOX_REQUIRED is set.`);
  return { skip: reason };
}

export interface ObjectStore extends AsyncDisposable {
  readonly url: string;
  makeBucket(name: string): Promise<void>;
  /** @returns an object's text, or null where there is none */
  read(bucket: string, key: string): Promise<string | null>;
}

/** The server checks no signature, but answers strangers for public objects only. */
const authorization =
  'AWS4-HMAC-SHA256 Credential=key/20260101/eu-west-1/s3/aws4_request, SignedHeaders=host, Signature=none';

/** Starts a server on a free port; it keeps everything in memory. */
export async function startObjectStore(): Promise<ObjectStore> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const child = spawn((await findServer()) ?? program, ['-H', '127.0.0.1', '-p', String(port)], {
    stdio: 'ignore',
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  await until('the object store', () =>
    fetch(`${url}/moto-api/`).then(
      ({ ok }) => ok,
      () => false,
    ),
  );
  return {
    url,
    async makeBucket(name) {
      const { ok, status } = await fetch(`${url}/${name}`, { method: 'PUT' });
      if (!ok) throw new Error(`The bucket was not made: ${status}`);
    },
    async read(bucket, key) {
      const response = await fetch(`${url}/${bucket}/${encodeURIComponent(key)}`, {
        headers: { authorization },
      });
      if (response.ok) return response.text();
      if (response.status === 404) return null;
      throw new Error(`The object ${key} was not read: ${response.status}`);
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

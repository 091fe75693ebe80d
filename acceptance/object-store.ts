/** A real server of the S3 protocol (moto): what a `backend "s3"` of users' code talks to. */
import { authorizationFor, startAwsServer } from '../agent/testing/secret-stores/aws-server.ts';

export interface ObjectStore extends AsyncDisposable {
  readonly url: string;
  makeBucket(name: string): Promise<void>;
  /** @returns an object's text, or null where there is none */
  read(bucket: string, key: string): Promise<string | null>;
}

/** Anonymous callers get public objects only. */
const authorization = authorizationFor('key/20260101/eu-west-1/s3/aws4_request');

/** Starts a server on a free port; it keeps everything in memory. */
export async function startObjectStore(): Promise<ObjectStore> {
  const server = await startAwsServer();
  const { url } = server;
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
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

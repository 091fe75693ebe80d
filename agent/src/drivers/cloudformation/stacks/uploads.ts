/** Templates and packages of code that AWS reads from a bucket of S3. */
import { createHash } from 'node:crypto';
import type { S3Client } from '@aws-sdk/client-s3';
import { beforeReading, refuseWebPages } from '#clouds/aws-web-page.ts';
import { stackVariableNames } from '#protocol/tools/cloudformation/variables.ts';
import { type Api, clientSettings, explain, StackProblem } from './api/api.ts';
import { tell } from './api/tell.ts';

/** A custom endpoint has no names for each bucket. */
function ownEndpoint(environment: NodeJS.ProcessEnv): string | undefined {
  return environment['AWS_ENDPOINT_URL_S3'] || environment['AWS_ENDPOINT_URL'] || undefined;
}

/** Place of an object, even before it exists. */
export interface S3Location {
  readonly bucket: string;
  readonly key: string;
}

/** Uploads of a run; those that only it needs are removed at its end. */
export class Uploads implements AsyncDisposable {
  readonly #request: Api['request'];
  readonly #region: () => Promise<string>;
  readonly #environment: NodeJS.ProcessEnv;
  readonly #temporary = new Set<string>();
  #client: S3Client | null = null;

  constructor(
    { request, client }: Pick<Api, 'request' | 'client'>,
    environment: NodeJS.ProcessEnv = process.env,
  ) {
    this.#request = request;
    this.#region = () => client.config.region();
    this.#environment = environment;
  }

  /**
   * @param name of the object, the same for the same content
   * @param why it has to be uploaded, as the beginning of a sentence
   * @throws StackProblem if there is no bucket
   */
  placeOf(name: string, why: string): S3Location {
    const { upload, environmentId } = this.#request;
    if (upload === null)
      throw new StackProblem(
        `${why}: set ${stackVariableNames.bucket} to a bucket of S3 in the region of the stack, which it is uploaded to`,
      );
    return { bucket: upload.bucket, key: `${upload.prefix}envarium/${environmentId}/${name}` };
  }

  /**
   * Uploads an object.
   * @param what it is, as messages name it
   * @param afterwards `kept`: AWS reads it whenever it works on the stack
   * @throws StackProblem if the bucket does not take it
   */
  async put(
    { bucket, key }: S3Location,
    content: Uint8Array,
    { what, afterwards }: { readonly what: string; readonly afterwards: 'kept' | 'removed' },
  ): Promise<void> {
    const kmsKeyId = this.#request.upload?.kmsKeyId ?? null;
    const { S3Client, PutObjectCommand } = await import('@aws-sdk/client-s3');
    const endpoint = ownEndpoint(this.#environment);
    if (this.#client === null) {
      this.#client = new S3Client({
        ...clientSettings(this.#environment),
        ...(endpoint === undefined ? {} : { forcePathStyle: true }),
      });
      this.#client.middlewareStack.add(refuseWebPages, beforeReading);
    }
    try {
      await this.#client.send(
        new PutObjectCommand({
          Bucket: bucket,
          Key: key,
          Body: content,
          ContentType: /\.(template|ya?ml|json)$/.test(key) ? 'text/plain' : 'application/octet-stream',
          ChecksumSHA256: createHash('sha256').update(content).digest('base64'),
          ...(kmsKeyId === null ? {} : { ServerSideEncryption: 'aws:kms', SSEKMSKeyId: kmsKeyId }),
        }),
      );
    } catch (error) {
      throw new StackProblem(
        `the bucket ${bucket} does not take ${what}: ${explain(error, this.#environment)}`,
        { cause: error },
      );
    }
    if (afterwards === 'removed') this.#temporary.add(key);
  }

  /** The address by which AWS reads an object. */
  async addressOf({ bucket, key }: S3Location): Promise<string> {
    const endpoint = ownEndpoint(this.#environment);
    const path = key.split('/').map(encodeURIComponent).join('/');
    if (endpoint !== undefined) return `${endpoint.replace(/\/+$/, '')}/${bucket}/${path}`;
    const region = await this.#region();
    const domain = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
    // A name with dots has no certificate of its own.
    return bucket.includes('.')
      ? `https://s3.${region}.${domain}/${bucket}/${path}`
      : `https://${bucket}.s3.${region}.${domain}/${path}`;
  }

  /** Remaining objects are harmless: the next upload of the same content has the same name. */
  async [Symbol.asyncDispose](): Promise<void> {
    const { upload } = this.#request;
    if (upload === null || this.#client === null) return;
    const { DeleteObjectCommand } = await import('@aws-sdk/client-s3');
    for (const key of this.#temporary)
      await this.#client
        .send(new DeleteObjectCommand({ Bucket: upload.bucket, Key: key }))
        .catch((error: unknown) =>
          tell(`The uploaded template ${key} stays in ${upload.bucket}: ${explain(error)}`),
        );
  }
}

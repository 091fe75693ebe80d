/** Compressed replies and compressed request bodies, on the routes that ask for them. */
import compress, { type FastifyCompressOptions } from '@fastify/compress';
import type { FastifyInstance } from 'fastify';
import { Refusal } from './errors.ts';

/** Below this many bytes compression costs more than it saves. */
const leastBytes = 1024;

/** Event streams and files are sent as they are. */
const compressibleTypes = /^(application\/json|text\/html)\b/;

const requestEncodings = ['gzip', 'deflate', 'br', 'zstd', 'identity'] as const;

const compressOptions = {
  threshold: leastBytes,
  customTypes: compressibleTypes,
} satisfies FastifyCompressOptions;

const decompressOptions = {
  requestEncodings: [...requestEncodings],
  onUnsupportedRequestEncoding: (encoding: string) =>
    new Refusal(
      'unsupported_media_type',
      `The header Content-Encoding has "${encoding}": use one of ${requestEncodings.join(', ')}`,
    ),
  // The plugin copies enumerable fields only, which the message of an error usually is not.
  onInvalidRequestPayload: (encoding: string, _request: unknown, { message }: Error) =>
    Object.assign(new Error(), { statusCode: 400, message: `/body is not valid ${encoding}: ${message}` }),
} satisfies FastifyCompressOptions;

/**
 * Options of a route whose replies are compressed as the caller accepts it, and whose bodies may be compressed.
 * They are complete, because options of a route replace those of the app.
 */
export const compressedRoute = { compress: compressOptions, decompress: decompressOptions };

/** Prepares the app for routes with `compressedRoute`; the body limit counts decompressed bytes. */
export async function prepareCompression(app: FastifyInstance): Promise<void> {
  await app.register(compress, { global: false });
}

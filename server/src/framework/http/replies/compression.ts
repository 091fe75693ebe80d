/** Compressed replies and compressed request bodies, on the routes that ask for them. */
import compress, { type FastifyCompressOptions } from '@fastify/compress';
import type { FastifyInstance, onSendAsyncHookHandler } from 'fastify';
import { Refusal } from '../../../ground/errors.ts';
import { codedTag } from '../changes/entity-tag.ts';

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

const tagCompressed: onSendAsyncHookHandler = async (_request, reply, payload) => {
  const [tag, coding] = [reply.getHeader('etag'), reply.getHeader('content-encoding')];
  if (typeof tag === 'string' && typeof coding === 'string') reply.header('etag', codedTag(tag, coding));
  return payload;
};

/** Prepares the app for routes with `compressedRoute`; the body limit counts decompressed bytes. */
export async function prepareCompression(app: FastifyInstance): Promise<void> {
  await app.register(compress, { global: false });
  // After the plugin's own hook: what it has compressed are other bytes, which have a tag of their own.
  app.addHook('onRoute', (route) => {
    if (route.compress) route.onSend = [route.onSend ?? [], tagCompressed].flat();
  });
}

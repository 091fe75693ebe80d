/** Replies up to a limit: whatever is at the address, a program that reads one does not run out of memory. */

const mebibyte = 1024 * 1024;

/** Of a reply in JSON, and of a refusal. */
export const jsonLimitBytes = 256 * mebibyte;
/** Of a reply that is a file: the largest state that a service can be set to keep. */
export const fileLimitBytes = 2048 * mebibyte;

/** A size in MB, for a message. */
export function inMegabytes(bytes: number): string {
  return `${bytes / mebibyte} MB`;
}

/**
 * @param limitBytes of the body after decompression
 * @param tooLarge the error for readers of a larger body; its connection is closed
 * @returns the body of a response, to be read as text or bytes
 */
export function boundedReply(response: Response, limitBytes: number, tooLarge: () => Error): Response {
  let bytes = 0;
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.length;
      if (bytes > limitBytes) controller.error(tooLarge());
      else controller.enqueue(chunk);
    },
  });
  return new Response(response.body?.pipeThrough(counter));
}

/** Paths as Fastify declares them. */

/** @param path as operations declare it, with parameters as `{name}` */
export function fastifyPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1');
}

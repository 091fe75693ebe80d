/** Reads discovery files, which are untrusted, in a thread with limits. */
import { askOnce, ThreadFailure } from '#guards/threads/limited-thread.ts';
import { type DiscoveryFile, discoveryFileName, unreadableFile } from './discovery-file.ts';

const mostBytes = 1_000_000;

const program = {
  program: new URL('./discovery-file-thread.ts', import.meta.url),
  seconds: 5,
  megabytes: 256,
} as const;

/**
 * Reads the environments of a discovery file. Top-level keys other than `environments` are ignored.
 * @param text of `envarium-discovery.yml`
 * @returns environments and errors: never throws for what the file contains
 */
export async function parseDiscoveryFile(text: string): Promise<DiscoveryFile> {
  if (Buffer.byteLength(text) > mostBytes)
    return unreadableFile(1, `${discoveryFileName} has more than ${mostBytes / 1000} kB`);
  try {
    return await askOnce<string, DiscoveryFile>(program, text);
  } catch (error) {
    if (!(error instanceof ThreadFailure)) throw error;
    return unreadableFile(1, `${discoveryFileName} cannot be read: ${error.message}`);
  }
}

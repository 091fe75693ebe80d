/** Reads the repositories of a configuration: folders by a glob, or discovery files. */
import type { Context } from '../../framework/context.ts';
import { markOfFiles, readFiles } from './read-files.ts';
import { headOfFolders, readFolders } from './read-folders.ts';
import type { DiscoveryRule, ScanReading } from './scan-reading.ts';

function hasFiles({ columns }: DiscoveryRule): boolean {
  return columns.repository_regex !== null;
}

/** @throws UnreadableRepository, UnmatchableTree or Refusal in words for people */
export function readRule(context: Context, rule: DiscoveryRule, signal: AbortSignal): Promise<ScanReading> {
  return hasFiles(rule) ? readFiles(context, rule, signal) : readFolders(context, rule, signal);
}

/** The mark that a reading would have now. One request to each repository says it. */
export async function markNow(context: Context, rule: DiscoveryRule): Promise<string | null> {
  return hasFiles(rule) ? markOfFiles(context, rule) : headOfFolders(context, rule);
}

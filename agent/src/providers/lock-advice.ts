/** Remedy for a lock file that was made on a machine of another platform. */
import { ownPlatform } from '../own/own-platform.ts';

const mismatch = /checksums\s+(previously\s+)?recorded\s+in\s+the\s+dependency\s+lock\s+file/;

/**
 * @param program the tool's own, if its configuration has one lock file; null: another one writes them
 * @returns advice for a message of the tool about checksums; null for any other
 */
export function lockFileAdvice(program: string | null, message: string): string | null {
  if (!mismatch.test(message)) return null;
  const command = `${program === null ? '' : `${program} `}providers lock -platform=${ownPlatform}`;
  return `If the lock file was made on another platform, it does not have the checksums for the agent's: run "${command}" with a -platform for each platform that you use, and commit the file.`;
}

/** Checksums as `sha256sum` writes them. */

/**
 * @returns the SHA-256 of each file in lower-case hex, by name
 * @throws Error that quotes an invalid line
 */
export function readChecksums(text: string): Map<string, string> {
  const sums = new Map<string, string>();
  for (const line of text.split(/\r?\n/).filter((each) => each.trim() !== '')) {
    const [, sum, name] = /^([0-9a-fA-F]{64}) [ *](\S+)$/.exec(line) ?? [];
    if (sum === undefined || name === undefined)
      throw new Error(`the list of checksums has an invalid line: ${JSON.stringify(line.slice(0, 200))}`);
    sums.set(name, sum.toLowerCase());
  }
  return sums;
}

/**
 * Reads a file that consists of one checksum.
 * @throws Error that quotes anything else
 */
export function readBareChecksum(text: string): string {
  const sum = /^([0-9a-fA-F]{64})\s*$/.exec(text)?.[1];
  if (sum === undefined)
    throw new Error(`the file of the checksum has other content: ${JSON.stringify(text.slice(0, 200))}`);
  return sum.toLowerCase();
}

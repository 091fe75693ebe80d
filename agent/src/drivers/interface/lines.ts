/** Splits chunks of bytes into lines. */

const newline = 0x0a;

/**
 * @param longestBytes longer lines are skipped without being buffered
 * @param read called with each complete line, without its line break
 * @returns a function that accepts the next chunk
 */
export function lineSplitter(
  longestBytes: number,
  read: (line: string) => void,
): (bytes: Uint8Array) => void {
  let held: Buffer[] = [];
  let heldBytes = 0;
  const hold = (bytes: Buffer) => {
    if (heldBytes <= longestBytes) held.push(Buffer.from(bytes));
    heldBytes += bytes.length;
  };
  return (bytes) => {
    const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let from = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, from)) {
      if (heldBytes + end - from <= longestBytes)
        read(Buffer.concat([...held, chunk.subarray(from, end)]).toString());
      held = [];
      heldBytes = 0;
      from = end + 1;
    }
    hold(chunk.subarray(from));
  };
}

/** Reads large contents into memory of their own, which can be handed to a thread and back without a copy. */

const leastRoom = 64 * 1024;

/** Memory that nothing else uses, as pieces of the common pool do not have. */
function ownMemory(bytes: number): Buffer<ArrayBuffer> {
  return Buffer.from(new ArrayBuffer(bytes));
}

/**
 * Memory is occupied as the bytes arrive, however many are expected.
 * @param expected how many bytes there probably are
 * @param most further bytes are read, but not kept
 * @returns null where there are more than `most`
 */
export async function readWhole(
  source: AsyncIterable<Buffer>,
  { expected, most }: { readonly expected: number; readonly most: number },
): Promise<Buffer<ArrayBuffer> | null> {
  let memory = ownMemory(Math.min(Math.max(expected, leastRoom), most));
  let size = 0;
  for await (const piece of source) {
    const end = size + piece.length;
    if (end > most) {
      memory = ownMemory(0);
      size = Infinity;
      continue;
    }
    if (end > memory.length) {
      const larger = ownMemory(Math.min(Math.max(end, 2 * memory.length), most));
      memory.copy(larger, 0, 0, size);
      memory = larger;
    }
    piece.copy(memory, size);
    size = end;
  }
  return size === Infinity ? null : memory.subarray(0, size);
}

/** Smaller ones may be part of memory that others use, and are not worth it. */
const leastReleased = 1024 * 1024;

/**
 * Gives large memory back at once; otherwise it is occupied until the next garbage collection, next to that of
 * the next content.
 * @param bytes all of their memory, not usable afterwards
 */
export function release({ buffer, byteLength }: Uint8Array<ArrayBuffer>): void {
  if (byteLength >= leastReleased) buffer.transfer(0);
}

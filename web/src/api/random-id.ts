/** Unique ids, also where the page came over plain http: `crypto.randomUUID` needs https. */

/** 32 random hexadecimal digits. */
export function randomId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
}

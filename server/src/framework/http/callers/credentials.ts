/** Reads `Authorization`: Basic, and leniently Bearer with the same content. */

export interface Credentials {
  readonly id: string;
  readonly secret: string;
}

/** @returns the credentials of the header, or null where it has none that can be read */
export function readCredentials(header: string | undefined): Credentials | null {
  const match = /^(?:basic|bearer)\s+([A-Za-z0-9+/_=-]+)\s*$/i.exec(header ?? '');
  if (!match?.[1]) return null;
  const text = Buffer.from(match[1], 'base64').toString('utf8');
  const colon = text.indexOf(':');
  // No id of ours has a NUL character, and the database compares none.
  return colon > 0 && !text.includes('\0')
    ? { id: text.slice(0, colon), secret: text.slice(colon + 1) }
    : null;
}

/** The id and the secret of the token of an identity provider; null where the header has none. */
export function readScimToken(header: string | undefined): Credentials | null {
  const match = /^bearer\s+([0-9a-f-]{36})\.([\w-]{1,100})\s*$/i.exec(header ?? '');
  const [, id, secret] = match ?? [];
  return id === undefined || secret === undefined ? null : { id: id.toLowerCase(), secret };
}

/** Detached OpenPGP signatures, as publishers provide them for their lists of checksums. */

import type { PublicKey, Signature } from 'openpgp';

/** The key that made a valid signature. */
export interface Signer {
  /** Of the primary key, 40 hex digits in upper case. */
  readonly fingerprint: string;
  /** The owner that the key names. */
  readonly name: string;
}

/** An invalid signature, or one by another key; the message is for a person. */
export class BadSignature extends Error {
  override readonly name = 'BadSignature';
  /** It was made with an unknown key; another signature of the same text may be valid. */
  readonly isOtherKey: boolean;

  constructor(message: string, isOtherKey = false) {
    super(message);
    this.isOtherKey = isOtherKey;
  }
}

/** The signer's clock may be this far ahead. */
const clockDifference = 86_400_000;

/**
 * Checks a detached signature. A signature made while the key was valid still counts after the key expired;
 * signatures of a revoked key do not, unless the key was merely superseded later.
 * @param armoredKeys one or several armored public keys, including several editions of one
 * @param signature armored or binary
 * @throws BadSignature, and an Error if `armoredKeys` cannot be read
 */
export async function verifySignature(
  text: Uint8Array,
  signature: Uint8Array,
  armoredKeys: string,
): Promise<Signer> {
  const keys = await readPublicKeys(armoredKeys);
  const detached = await readDetached(signature);
  const [packet] = detached.packets;
  const created = packet?.created;
  if (!packet || !created) throw new BadSignature('it is not an OpenPGP signature');
  if (created.getTime() > Date.now() + clockDifference)
    throw new BadSignature(
      `it claims to be made on ${created.toISOString().slice(0, 10)}, which is in the future`,
    );
  const issuer = packet.issuerKeyID;
  const fitting = keys.filter((key) => key.getKeyIDs().some((id) => id.equals(issuer)));
  if (fitting.length === 0) {
    const wanted = [...new Set(keys.map((key) => key.getFingerprint().toUpperCase()))].join(', ');
    throw new BadSignature(
      `it was made by key ${issuer.toHex().toUpperCase()}, which does not belong to ${wanted}`,
      true,
    );
  }
  const problems: string[] = [];
  for (const key of fitting) {
    const problem = await problemWith(text, detached, key, created);
    if (problem === null)
      return { fingerprint: key.getFingerprint().toUpperCase(), name: key.getUserIDs()[0] ?? '' };
    problems.push(problem);
  }
  throw new BadSignature(problems.at(-1) ?? '');
}

async function problemWith(
  text: Uint8Array,
  signature: Signature,
  key: PublicKey,
  created: Date,
): Promise<string | null> {
  const { createMessage, verify } = await import('openpgp');
  const check = async (date: Date, allowInsecureVerificationWithReformattedKeys: boolean) => {
    const message = await createMessage({ binary: text });
    const config = { allowInsecureVerificationWithReformattedKeys };
    await verify({ message, signature, verificationKeys: key, date, config, expectSigned: true });
  };
  try {
    await check(created, false);
    return null;
  } catch {
    // The self-signatures of an extended key may only be valid since the extension.
    return check(new Date(), true).then(
      () => null,
      (error: Error) => error.message,
    );
  }
}

async function readPublicKeys(text: string): Promise<PublicKey[]> {
  const { readKeys } = await import('openpgp');
  const blocks =
    text.match(/-----BEGIN PGP PUBLIC KEY BLOCK-----.*?-----END PGP PUBLIC KEY BLOCK-----/gs) ?? [];
  if (blocks.length === 0) throw new Error('it contains no armored OpenPGP public key');
  const keys = await Promise.all(
    blocks.map((armoredKeys) =>
      readKeys({ armoredKeys }).catch((cause: unknown) => {
        throw new Error(`the OpenPGP public key cannot be read: ${(cause as Error).message}`, { cause });
      }),
    ),
  );
  return keys.flat();
}

async function readDetached(signature: Uint8Array): Promise<Signature> {
  const { readSignature } = await import('openpgp');
  const text = Buffer.from(signature.buffer, signature.byteOffset, signature.byteLength);
  try {
    return await (text.includes('-----BEGIN PGP')
      ? readSignature({ armoredSignature: text.toString('latin1') })
      : readSignature({ binarySignature: text }));
  } catch (cause) {
    throw new BadSignature(`it is not an OpenPGP signature: ${(cause as Error).message}`);
  }
}

/**
 * Ids of the primary keys as used in file names: the last 8 hex digits of each fingerprint, in upper case.
 */
export async function shortKeyIds(armoredKeys: string): Promise<string[]> {
  return [
    ...new Set(
      (await readPublicKeys(armoredKeys)).map((key) => key.getFingerprint().slice(-8).toUpperCase()),
    ),
  ];
}

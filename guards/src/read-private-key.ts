/**
 * Checks a private key for ssh before it is stored, so that a wrong one is refused while a person can still
 * correct it, and again before it is used.
 */
import { createPrivateKey } from 'node:crypto';

export type PrivateKeyReading = { readonly key: string } | { readonly refusal: string };

const openSshMagic = 'openssh-key-v1\0';
const expected = 'send the content of a private key file, beginning with -----BEGIN OPENSSH PRIVATE KEY-----';
const passphrase = {
  refusal:
    'is protected by a passphrase, which no one can enter in a run: use a key without one (ssh-keygen -p removes it)',
} as const;

/**
 * @param value as a person pasted it: line breaks of any kind, blank lines around it
 * @returns the key in the form that ssh reads, or why it is refused: completes "value …"
 */
export function readPrivateKey(value: string): PrivateKeyReading {
  const text = value.replaceAll(/\r\n?/g, '\n').trim();
  const common = commonMistake(text);
  if (common !== null) return { refusal: common };
  const parts = /^-----BEGIN ([A-Z ]*PRIVATE KEY)-----\n([\s\S]*?)\n-----END \1-----$/.exec(text);
  const [, kind = '', body = ''] = parts ?? [];
  if (parts === null) return { refusal: `is not a complete private key: ${expected}` };
  if (kind === 'ENCRYPTED PRIVATE KEY' || /^Proc-Type:.*ENCRYPTED/m.test(body)) return passphrase;
  const problem = kind === 'OPENSSH PRIVATE KEY' ? openSshProblem(body) : pemProblem(text);
  if (problem === null) return { key: `${text}\n` };
  return typeof problem === 'string' ? { refusal: problem } : problem;
}

function commonMistake(text: string): string | null {
  if (/^(ssh-|ecdsa-|sk-)\S+ AAAA/.test(text) || /BEGIN [A-Z0-9 ]*PUBLIC KEY/.test(text))
    return `is a public key: ${expected}`;
  if (text.startsWith('PuTTY-User-Key-File'))
    return "is a key in PuTTY's form: export it in the form of OpenSSH (puttygen -O private-openssh)";
  if (!text.includes('\n') && text.includes('\\n'))
    return 'contains the characters \\n instead of line breaks: send real line breaks';
  return null;
}

function pemProblem(text: string): string | null {
  try {
    createPrivateKey(text);
    return null;
  } catch {
    return `is a private key that cannot be read and may be incomplete: ${expected}`;
  }
}

/** The outer frame: magic, cipher, derivation, its options, number of keys, public key, private part. */
function openSshProblem(body: string): string | typeof passphrase | null {
  const broken = `is an OpenSSH private key that is truncated or damaged: ${expected}`;
  const bytes = /^[A-Za-z0-9+/=\n]+$/.test(body) ? Buffer.from(body, 'base64') : Buffer.alloc(0);
  if (bytes.toString('latin1', 0, openSshMagic.length) !== openSshMagic) return broken;
  const fields = new Fields(bytes.subarray(openSshMagic.length));
  const cipher = fields.text();
  const derivation = fields.text();
  fields.text();
  if (cipher === null || derivation === null) return broken;
  if (cipher.toString('latin1') !== 'none') return passphrase;
  if (fields.number() !== 1) return `does not contain exactly one key: ${expected}`;
  fields.text();
  const secret = fields.text();
  if (secret === null || secret.length < 16) return broken;
  // The same random number twice: it shows whether the private part was opened with the right passphrase.
  return secret.readUInt32BE(0) === secret.readUInt32BE(4) ? null : broken;
}

/** Reads the numbers and length-prefixed strings of ssh's encoding, one after another. */
class Fields {
  #rest: Buffer;

  constructor(bytes: Buffer) {
    this.#rest = bytes;
  }

  number(): number | null {
    if (this.#rest.length < 4) return null;
    const value = this.#rest.readUInt32BE(0);
    this.#rest = this.#rest.subarray(4);
    return value;
  }

  text(): Buffer | null {
    const length = this.number();
    if (length === null || length > this.#rest.length) return null;
    const value = this.#rest.subarray(0, length);
    this.#rest = this.#rest.subarray(length);
    return value;
  }
}

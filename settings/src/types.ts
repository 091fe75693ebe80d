/** The allowed text of each type of setting, and the value that it is read as. */
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { isAbsolute, resolve } from 'node:path';
import { readKnownHosts } from '#guards/known-hosts.ts';
import { percentDecode } from '#guards/percent-decode.ts';
import { Secret } from './secret.ts';

export interface SettingType<Value> {
  /** Completes "must be …" in a refusal and appears on the settings page. */
  readonly allowed: string;
  readonly isSecret: boolean;
  /** The value, or undefined where the text is malformed. */
  readonly read: (text: string) => Value | undefined;
  /** A text that is read as this value again, to pass it on to another program. */
  write(value: Value): string;
}

function type<Value>(
  allowed: string,
  read: (text: string) => Value | undefined,
  write: (value: Value) => string = String,
): SettingType<Value> {
  return { allowed, isSecret: false, read, write };
}

export const text = type('any text', (value) => value);

export const secretText: SettingType<Secret> = {
  allowed: 'any text',
  isSecret: true,
  read: (value) => new Secret(value),
  write: (value) => value.reveal(),
};

const leastSecretLength = 32;

/** A secret that people choose: one that can be guessed is refused. */
export const longSecretText: SettingType<Secret> = {
  ...secretText,
  allowed: `a text of at least ${leastSecretLength} characters`,
  read: (value) => (value.length >= leastSecretLength ? new Secret(value) : undefined),
};

export const flag = type('true or false', (value) =>
  value === 'true' ? true : value === 'false' ? false : undefined,
);

/** A whole number within bounds, both included. */
export function count(minimum: number, maximum: number): SettingType<number> {
  return type(`a whole number from ${minimum} to ${maximum}`, (value) => {
    const number = Number(value);
    return /^[0-9]{1,15}$/.test(value) && number >= minimum && number <= maximum ? number : undefined;
  });
}

/** A word instead of the values of another type. */
export function orWord<const Word extends string, Value>(
  word: Word,
  other: SettingType<Value>,
): SettingType<Value | Word> {
  return type(
    `${other.allowed}, or ${word}`,
    (value) => (value === word ? word : other.read(value)),
    (value) => (value === word ? word : other.write(value as Value)),
  );
}

export function oneWord<const Words extends readonly string[]>(words: Words): SettingType<Words[number]> {
  return type(`one of ${words.join(', ')}`, (value) => words.find((word) => word === value));
}

/** A file or folder; a relative path is relative to the folder that the program is started in. */
export const path = type('a path', (value) => (value.includes('\0') ? undefined : resolve(value)));

export const absolutePaths = type('absolute paths, separated by commas', (value) => {
  const paths = listItems(value);
  return paths.every((item) => isAbsolute(item)) ? paths.map((item) => resolve(item)) : undefined;
});

const hostPattern = /^(\[[0-9a-f:.]+\]|[a-z0-9]([a-z0-9.-]*[a-z0-9])?)(:[0-9]{1,5})?$/;

export const hosts = type('host names, each with or without :port, separated by commas', (value) => {
  const names = listItems(value.toLowerCase());
  return names.every((name) => hostPattern.test(name)) ? names : undefined;
});

/** Addresses, and networks as address/bits; not the network of all addresses. */
export const networks = type('IP addresses or networks (10.0.0.0/8), separated by commas', (value) => {
  const items = listItems(value);
  return items.every(isNetwork) ? items : undefined;
});

function isNetwork(item: string): boolean {
  const [address = '', bits, ...more] = item.split('/');
  const longest = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
  return (
    longest >= 0 &&
    more.length === 0 &&
    !address.includes('%') &&
    (bits === undefined || (/^[1-9]\d{0,2}$/.test(bits) && Number(bits) <= longest))
  );
}

/** Lines of a `known_hosts` file. */
export const knownHosts = type(
  'lines as in a known_hosts file: host, key type, key',
  readKnownHosts,
  (lines) => lines.join('\n'),
);

/** An http or https address without query, fragment or credentials; a slash at its end is dropped. */
export const webAddress = type('an http:// or https:// address', (value) => {
  const url = URL.parse(value);
  if (!url || !['http:', 'https:'].includes(url.protocol)) return undefined;
  if (url.search || url.hash || url.username || url.password) return undefined;
  return url.href.replace(/\/+$/, '');
});

/** Whether no one on the way can change what comes from an address. */
function isPrivateWay({ protocol, hostname }: URL): boolean {
  const isHere = ['127.0.0.1', '[::1]', 'localhost'].includes(hostname);
  return protocol === 'https:' || (protocol === 'http:' && isHere);
}

/** As a provider writes its issuer, to the last slash; plain http only on this machine. */
export const issuerAddress = type(
  'an https:// address without query and fragment; http:// only on this machine',
  (value) => {
    const url = URL.parse(value);
    if (!url || !isPrivateWay(url)) return undefined;
    return url.search || url.hash || url.username || url.password ? undefined : value;
  },
);

/** Addresses of one service, such as its servers; at least one. */
export const webAddresses = type('http:// or https:// addresses, separated by commas', (value) => {
  const addresses = listItems(value).map((item) => webAddress.read(item));
  const known = addresses.filter((address) => address !== undefined);
  return known.length > 0 && known.length === addresses.length ? known : undefined;
});

/** Origins as browsers send them: scheme, host and port. */
export const origins = type('origins (https://portal.example.com), separated by commas', (value) => {
  const items = listItems(value);
  return items.every((item) => URL.parse(item)?.origin === item && item !== 'null') ? items : undefined;
});

/** A folder by its absolute path, or a web address; a slash at the end is dropped. */
export const folderOrAddress = type(
  'the absolute path of a folder, or an http:// or https:// address',
  (value) => (isAbsolute(value) && !value.includes('\0') ? resolve(value) : webAddress.read(value)),
);

export const databaseAddress: SettingType<Secret> = {
  allowed: 'a postgres:// or postgresql:// address',
  isSecret: true,
  read: (value) =>
    /^postgres(ql)?:\/\/./.test(value) && URL.canParse(value) ? new Secret(value) : undefined,
  write: (value) => value.reveal(),
};

/** A Redis or Valkey, as its usual clients write its address. */
export const redisAddress: SettingType<Secret> = {
  allowed:
    'redis://, rediss:// (TLS) or unix:// with name:password@ where needed: redis://:password@host:6379/0, ' +
    'unix://:password@/run/redis/redis.sock?db=0',
  isSecret: true,
  read: (value) => (isRedisAddress(value) ? new Secret(value) : undefined),
  write: (value) => value.reveal(),
};

function isRedisAddress(value: string): boolean {
  if (/^unix:\/\/([^:@/]*(:[^@/]*)?@)?\/[^?#]+(\?db=\d{1,6})?$/.test(value))
    return percentDecode(value) !== undefined;
  const url = URL.parse(value);
  return (
    url !== null &&
    ['redis:', 'rediss:'].includes(url.protocol) &&
    url.hostname !== '' &&
    /^(\/\d{0,6})?$/.test(url.pathname) &&
    !url.search &&
    !url.hash &&
    percentDecode(url.username + url.password) !== undefined
  );
}

/** Mirror of a tool, used instead of its publisher. */
export interface ToolMirror {
  /** Without credentials and without a slash at its end, or the path of a folder; null: no downloads. */
  readonly url: string | null;
  /** Value of the header `authorization`, from the address's credentials. */
  readonly authorization?: Secret;
  /** As it was specified. */
  readonly specified: Secret;
}

/** Its credentials must never be printed. */
function mirrorType(
  allowed: string,
  accepts: (url: URL) => boolean,
  words = 'or the word none',
): SettingType<ToolMirror> {
  return {
    allowed: `${allowed}, with name:password@ if the mirror requires them, ${words}`,
    isSecret: true,
    write: ({ specified }) => specified.reveal(),
    read(value) {
      const specified = new Secret(value);
      if (value === 'none') return { url: null, specified };
      const url = URL.parse(value);
      if (!url || !accepts(url) || url.search || url.hash) return undefined;
      const { username, password } = url;
      const pair = percentDecode(`${username}:${password}`);
      if (pair === undefined) return undefined;
      const authorization = new Secret(`Basic ${Buffer.from(pair).toString('base64')}`);
      url.username = '';
      url.password = '';
      return {
        url: url.href.replace(/\/+$/, ''),
        specified,
        ...(username || password ? { authorization } : {}),
      };
    },
  };
}

/** A mirror of releases whose checksums are signed, which any connection may bring. */
export const toolMirror = mirrorType('an http:// or https:// address', ({ protocol }) =>
  ['http:', 'https:'].includes(protocol),
);

const unsignedMirrorAddress = 'an https:// address (http:// only on this machine, because nothing is signed)';

/** A mirror of releases that are not signed. */
export const unsignedMirror = mirrorType(unsignedMirrorAddress, isPrivateWay);

const pythonAddress = mirrorType(
  unsignedMirrorAddress,
  isPrivateWay,
  'the absolute path of a folder, or the word none',
);

/** An index of Python packages, or a folder of wheels. */
export const pythonIndex: SettingType<ToolMirror> = {
  ...pythonAddress,
  read: (value) =>
    isAbsolute(value) && !value.includes('\0')
      ? { url: resolve(value), specified: new Secret(value) }
      : pythonAddress.read(value),
};

const keyBlock = /^-----BEGIN PGP PUBLIC KEY BLOCK-----$.*^-----END PGP PUBLIC KEY BLOCK-----$/ms;

/** Armored text, read from a file where the value is a path. */
export const publicKey: SettingType<string> = type(
  'an armored OpenPGP public key, or the path of a file that contains one',
  (value) => {
    if (value.startsWith('-----BEGIN')) return keyBlock.test(value) ? value : undefined;
    try {
      const content = readFileSync(value, 'utf8').replaceAll('\r\n', '\n');
      return keyBlock.test(content) ? content : undefined;
    } catch {
      return undefined;
    }
  },
);

function listItems(value: string): string[] {
  return value
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

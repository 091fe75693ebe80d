/**
 * The forms in which a secret value appears in output: as it is, line by line, quoted, URL-encoded,
 * base64-encoded, in hexadecimal. Each is a plain list of byte strings of at least four bytes.
 *
 * Out of scope: values with terminal sequences inside, encodings of encodings other than quoted JSON,
 * compression.
 */

const shortestCharacters = 4;
const shortestLineCharacters = 8;
const shortestInnerCharacters = 6;
/**
 * Longer forms are searched in pieces, so that a part of a long value is masked too and little has to be held
 * back.
 */
const longestPieceBytes = 64;
const longestPieceBytesOfLongForms = 1024;
const longFormBytes = 16_384;
/** For longer values only the likely forms are derived: all of them would take seconds. */
const allFormsCharacters = 65_536;
/** Line lengths at which common programs fold base64. */
const foldedLineBytes = [64, 76];

/** Whether a value is long enough to be masked; an empty or blank one is not a secret. */
function isMaskable(secret: string): boolean {
  return secret.length >= shortestCharacters && secret.trim() !== '';
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, '0');
}

const shortEscapes: Readonly<Record<string, string>> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '"': '\\"',
  '\\': '\\\\',
};

/** As Go's %q writes it, which is how terraform prints strings and commands. */
function goQuoted(text: string): string {
  return text.replaceAll(/["\\]|\p{C}|(?! )\p{Z}/gu, (character) => {
    const code = character.codePointAt(0)!;
    const short = shortEscapes[character];
    if (short !== undefined) return short;
    if (code < 0x80) return `\\x${hex(code, 2)}`;
    return code <= 0xffff ? `\\u${hex(code, 4)}` : `\\U${hex(code, 8)}`;
  });
}

/** As written in HCL source. */
function hclQuoted(text: string): string {
  return text
    .replaceAll(/["\\\n\r\t]/g, (character) => shortEscapes[character]!)
    .replaceAll(/[$%](?=\{)/g, '$&$&');
}

function json(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** As Go's encoder and terraform's jsonencode write it. */
function goJson(text: string): string {
  return json(text).replaceAll(/[<>&\u2028\u2029]/g, (character) => `\\u${hex(character.charCodeAt(0), 4)}`);
}

function asciiJson(text: string): string {
  return json(text).replaceAll(/[\u0080-\uffff]/g, (character) => `\\u${hex(character.charCodeAt(0), 4)}`);
}

/** As Python and JavaScript print it, and as a shell does. */
function singleQuoted(text: string): string[] {
  const printed = goQuoted(text).replaceAll('\\"', '"');
  return [printed, printed.replaceAll("'", "\\'"), text.replaceAll("'", "'\\''")];
}

/** Printable ASCII without a character that any of the writers below changes, as tokens mostly are. */
const needsNoQuotes = /^[^\x00-\x1f"\\'<>&$%\x7f-\uffff]*$/;

function quotedForms(text: string): string[] {
  if (needsNoQuotes.test(text)) return [text];
  const once = [
    json(text),
    goJson(text),
    asciiJson(text),
    goQuoted(text),
    hclQuoted(text),
    ...singleQuoted(text),
  ];
  return [...once, ...once.map(json), ...once.map(goQuoted)];
}

const asciiOnly = /^[\x00-\x7f]*$/;

/** Upper and lower hex digits, blanks as %20 or +, and the characters that encoders leave unchanged. */
function urlForms(text: string): string[] {
  if (/^[A-Za-z0-9_.-]*$/.test(text)) return [text];
  const component = encodeURIComponent(text.toWellFormed());
  const strict = component.replaceAll(
    /[!'()*]/g,
    (character) => `%${hex(character.charCodeAt(0), 2).toUpperCase()}`,
  );
  const form = new URLSearchParams([['', text]]).toString().slice(1);
  const uppers = [component, strict, strict.replaceAll('%2F', '/'), encodeURI(text.toWellFormed()), form];
  // Usually only two of them differ.
  return [...new Set(uppers)].flatMap((upper) => {
    const lower = upper.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase());
    return [upper, lower, upper.replaceAll('%20', '+'), lower.replaceAll('%20', '+')];
  });
}

/**
 * The characters of a base64 text that depend only on the secret, for each of its three possible offsets in a
 * group; in both alphabets, and complete (without padding) if nothing surrounds it.
 */
function base64Forms(bytes: Buffer): string[] {
  const whole = bytes.toString('base64').replace(/=+$/, '');
  const aligned = [0, 1, 2].map((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    return text.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
  });
  const folded = foldedLineBytes.flatMap((width) => (whole.length <= width ? [] : chunks(whole, width)));
  return [whole, ...aligned, ...folded].flatMap((text) => [
    text,
    text.replaceAll('+', '-').replaceAll('/', '_'),
  ]);
}

/** In lower and upper case, without separators. */
function hexForms(bytes: Buffer): string[] {
  const text = bytes.toString('hex');
  return [text, text.toUpperCase()];
}

function chunks(text: string, length: number): string[] {
  return Array.from({ length: Math.ceil(text.length / length) }, (_, index) =>
    text.slice(index * length, (index + 1) * length),
  );
}

function lines(secret: string): string[] {
  const parts = secret.split(/[\r\n]+/).map((line) => line.trim());
  return parts.length < 2 ? [] : parts.filter((line) => line.length >= shortestLineCharacters);
}

/** The texts in a structured value that are long enough to be masked; keys are not secrets. */
export function innerTexts(value: unknown): string[] {
  if (typeof value === 'string')
    return value.length >= shortestInnerCharacters && isMaskable(value) ? [value] : [];
  return value === null || typeof value !== 'object' ? [] : Object.values(value).flatMap(innerTexts);
}

/** Texts inside a value that is a JSON document: tools print the parts of such a value separately. */
function textsOfDocument(secret: string): string[] {
  if (!/^\s*[[{"]/.test(secret)) return [];
  try {
    return innerTexts(JSON.parse(secret));
  } catch {
    return [];
  }
}

/** Cuts a long form into pieces that cover it; the last one overlaps the one before. */
function pieces(form: Buffer): Buffer[] {
  const length = form.length > longFormBytes ? longestPieceBytesOfLongForms : longestPieceBytes;
  if (form.length <= length) return [form];
  const starts = Array.from({ length: Math.floor(form.length / length) }, (_, index) => index * length);
  return [...new Set([...starts, form.length - length])].map((start) => form.subarray(start, start + length));
}

function encodedForms(value: string): string[] {
  if (value.length > allFormsCharacters)
    return [json(value), goJson(value), goQuoted(value), encodeURIComponent(value.toWellFormed())];
  return [...quotedForms(value), ...urlForms(value)];
}

function formsOf(secret: string): string[] {
  const trimmed = secret.trim();
  const values = [...new Set([secret, ...(trimmed.length >= shortestCharacters ? [trimmed] : [])])];
  const ofLines = lines(secret).flatMap((line) => [line, json(line), goQuoted(line)]);
  return [
    ...values.flatMap((value) => [
      value,
      ...encodedForms(value),
      ...base64Forms(Buffer.from(value)),
      ...hexForms(Buffer.from(value)),
    ]),
    ...ofLines,
  ];
}

/**
 * Every byte string that must not leave the agent, longest first, none longer than 1,024 bytes.
 * @param secrets values; those shorter than four characters are omitted
 */
export function secretForms(secrets: readonly string[]): Buffer[] {
  const found = new Set<string>();
  const values = secrets.filter(isMaskable).flatMap((secret) => [secret, ...textsOfDocument(secret)]);
  for (const form of new Set([...new Set(values)].flatMap(formsOf))) {
    // Its bytes are its characters, and it is one piece: so are nearly all, of which a run may have thousands.
    if (form.length <= longestPieceBytes && asciiOnly.test(form)) {
      if (form.length >= shortestCharacters) found.add(form);
      continue;
    }
    for (const piece of pieces(Buffer.from(form)))
      if (piece.length >= shortestCharacters) found.add(piece.toString('latin1'));
  }
  // Characters of this encoding are in the order of their bytes.
  return [...found]
    .sort((left, right) => right.length - left.length || (left < right ? -1 : 1))
    .map((text) => Buffer.from(text, 'latin1'));
}

/**
 * Replaces secrets in bytes and values before they leave the agent.
 *
 * A byte is covered if it belongs to an occurrence of any form of any secret; each unbroken run of covered
 * bytes becomes `***`. This is a pure function of all the bytes and the list of secrets: chunk borders change
 * nothing, and a replay results in the same bytes at the same offsets.
 */
import { numberText } from '#contract/schema/exact-json.ts';
import { isRecord } from '#contract/schema/is-record.ts';
import { secretForms } from './secret-forms.ts';

const stars = Buffer.from('***');
const keyBytes = 4;
const filterBits = 18;

/** Secrets prepared for searching; to be shared by everything that masks with the same list. */
export interface SecretPatterns {
  readonly isEmpty: boolean;
  readonly longestBytes: number;
  /** Decides quickly that no pattern begins with these four bytes. */
  readonly filter: Uint8Array;
  /** Patterns by their first four bytes, longest first. */
  readonly byKey: ReadonlyMap<number, readonly Buffer[]>;
  /** First bytes of patterns, of one to three bytes, for the end of the input so far. */
  readonly beginnings: ReadonlySet<string>;
}

function slot(key: number): number {
  return Math.imul(key, 0x9e3779b1) >>> (32 - filterBits);
}

/** Derives all forms of the secrets; values shorter than four characters are omitted. */
function compileSecrets(secrets: readonly string[]): SecretPatterns {
  const forms = secretForms(secrets);
  const filter = new Uint8Array(1 << filterBits);
  const byKey = new Map<number, Buffer[]>();
  const beginnings = new Set<string>();
  for (const form of forms) {
    const key = form.readInt32BE(0);
    filter[slot(key)] = 1;
    const bucket = byKey.get(key);
    if (bucket) {
      bucket.push(form);
      continue;
    }
    byKey.set(key, [form]);
    for (let length = 1; length < keyBytes; length += 1) beginnings.add(form.toString('latin1', 0, length));
  }
  return { isEmpty: forms.length === 0, longestBytes: forms[0]?.length ?? 0, filter, byKey, beginnings };
}

export type Secrets = readonly string[] | SecretPatterns;

/** By the list that they were derived from, while that list exists: a run masks with the same list many times. */
const derived = new WeakMap<readonly string[], SecretPatterns>();
/** The list of the phase before, which the next one usually repeats. */
let latest: WeakRef<readonly string[]> | undefined;

function isSameList(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((secret, index) => secret === other[index]);
}

function derivedBefore(secrets: readonly string[]): SecretPatterns | undefined {
  const before = latest?.deref();
  return before && isSameList(before, secrets) ? derived.get(before) : undefined;
}

/**
 * Search patterns; derived once for the same list.
 * @param secrets not changed afterwards
 */
export function patternsOf(secrets: Secrets): SecretPatterns {
  if ('byKey' in secrets) return secrets;
  const known = derived.get(secrets);
  if (known) return known;
  const patterns = derivedBefore(secrets) ?? compileSecrets(secrets);
  derived.set(secrets, patterns);
  latest = new WeakRef(secrets);
  return patterns;
}

/** A covered stretch of bytes; ends are exclusive. */
type Stretch = readonly [start: number, end: number];

interface SecretSearch {
  /** Complete occurrences joined where they touch, in order. */
  readonly stretches: Stretch[];
  /** Start of the first occurrence that more bytes might complete. */
  readonly openFrom: number;
}

function search(data: Buffer, patterns: SecretPatterns): SecretSearch {
  const { filter, byKey } = patterns;
  const stretches: [number, number][] = [];
  let openFrom = data.length;
  const last = data.length - keyBytes;
  let key = data.length >= keyBytes ? data.readInt32BE(0) >>> 8 : 0;
  for (let at = 0; at <= last; at += 1) {
    key = (key << 8) | data[at + 3]!;
    if (filter[slot(key)] === 0) continue;
    const end = longestMatch(data, at, byKey.get(key));
    if (end.isOpen && at < openFrom) openFrom = at;
    if (end.at > at) cover(stretches, at, end.at);
  }
  for (let at = Math.max(0, last + 1); at < data.length && at < openFrom; at += 1) {
    if (patterns.beginnings.has(data.toString('latin1', at))) openFrom = at;
  }
  return { stretches, openFrom };
}

function longestMatch(
  data: Buffer,
  at: number,
  candidates: readonly Buffer[] | undefined,
): { at: number; isOpen: boolean } {
  const room = data.length - at;
  let isOpen = false;
  for (const pattern of candidates ?? []) {
    if (pattern.length > room) {
      isOpen ||= data.compare(pattern, 0, room, at, data.length) === 0;
      continue;
    }
    if (data.compare(pattern, 0, pattern.length, at, at + pattern.length) === 0)
      return { at: at + pattern.length, isOpen };
  }
  return { at, isOpen };
}

function cover(stretches: [number, number][], start: number, end: number): void {
  const previous = stretches.at(-1);
  if (previous && start <= previous[1]) previous[1] = Math.max(previous[1], end);
  else stretches.push([start, end]);
}

/** Masks a stream of bytes. */
export interface Masker {
  /**
   * Accepts the next bytes and returns those that are certain; at most the longest pattern minus one byte is
   * held back. May return a view of the same bytes.
   */
  push(bytes: Uint8Array): Uint8Array;
  /** Returns the bytes held back. */
  end(): Uint8Array;
}

/**
 * A masker for one stream.
 * @param secrets values, or the result of `patternsOf`
 */
export function createMasker(secrets: Secrets): Masker {
  const patterns = patternsOf(secrets);
  let held: Buffer = Buffer.alloc(0);
  /** Number of buffered bytes that belong to an occurrence that began before them. */
  let coveredBytes = 0;
  let isInStretch = false;

  const emit = (data: Buffer, stretches: readonly Stretch[], upTo: number): Buffer => {
    const parts: Buffer[] = [];
    let at = 0;
    for (const [start, end] of stretches) {
      if (start >= upTo) break;
      if (start > at) {
        parts.push(data.subarray(at, start));
        isInStretch = false;
      }
      if (!isInStretch) parts.push(stars);
      isInStretch = true;
      at = Math.min(end, upTo);
    }
    if (at < upTo) {
      parts.push(data.subarray(at, upTo));
      isInStretch = false;
    }
    return parts.length === 1 ? parts[0]! : Buffer.concat(parts);
  };

  const take = (bytes: Uint8Array, isLast: boolean): Buffer => {
    const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const data = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    const found = search(data, patterns);
    const stretches: [number, number][] = coveredBytes > 0 ? [[0, coveredBytes]] : [];
    for (const [start, end] of found.stretches) cover(stretches, start, end);
    const upTo = isLast ? data.length : found.openFrom;
    const masked = emit(data, stretches, upTo);
    const across = stretches.find(([start, end]) => start <= upTo && end > upTo);
    coveredBytes = across ? across[1] - upTo : 0;
    held = Buffer.from(data.subarray(upTo));
    return masked;
  };

  if (patterns.isEmpty) return { push: (bytes) => bytes, end: () => new Uint8Array() };
  return { push: (bytes) => take(bytes, false), end: () => take(new Uint8Array(), true) };
}

/** Masks one text. */
export function maskText(value: string, secrets: Secrets): string {
  // Before the patterns, which take long to derive.
  if (value.length < keyBytes) return value;
  const patterns = patternsOf(secrets);
  if (patterns.isEmpty) return value;
  const bytes = Buffer.from(value);
  const masker = createMasker(patterns);
  const parts = [masker.push(bytes), masker.end()];
  // The identical text is returned if nothing was found, including lone surrogates.
  return parts[0]!.length === bytes.length && bytes.equals(parts[0]!)
    ? value
    : Buffer.concat(parts).toString();
}

/**
 * Masks every text of a JSON value, including keys; a number whose digits are a secret becomes `***`.
 * @returns a copy; the value is unchanged
 */
export function maskJson<Value>(value: Value, secrets: Secrets): Value {
  const patterns = patternsOf(secrets);
  const mask = (inner: unknown): unknown => {
    if (typeof inner === 'string') return maskText(inner, patterns);
    const digits = numberText(inner);
    if (digits !== null) return maskText(digits, patterns) === digits ? inner : stars.toString();
    if (Array.isArray(inner)) return inner.map(mask);
    if (!isRecord(inner)) return inner;
    return Object.fromEntries(
      Object.entries(inner).map(([key, part]) => [maskText(key, patterns), mask(part)]),
    );
  };
  return patterns.isEmpty ? value : (mask(value) as Value);
}

/**
 * Cuts a text for people. A part of a secret that a cut has left is not found: what is cut is masked first.
 * @param mostCharacters of what is left of the text
 * @returns the text itself if it is not longer; it is masked with everything else before it leaves the agent
 */
export function cutMasked(text: string, mostCharacters: number, secrets: Secrets): string {
  if (text.length <= mostCharacters) return text;
  const masked = maskText(text, secrets);
  if (masked.length <= mostCharacters) return masked;
  // Half of a character is not a text.
  return `${masked.slice(0, mostCharacters).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** Checks a chain of the audit trail link by link: for the service, and for exports without it. */

import { type AuditContent, type AuditLink, contentText, linkHash, sha256, zeroHash } from './chain.ts';
import type { AuditFindingKind } from './shapes.ts';

export interface AuditFinding {
  readonly kind: AuditFindingKind;
  /** In the chain, where it is known. */
  readonly number?: number;
  readonly entryId?: string;
  readonly text: string;
}

/** The links of one chain, one after the other. */
export class ChainWalk {
  readonly chain: string;
  #last: { readonly number: number; readonly hash: string } | null;

  /** @param isPart the first link may have any number: an export that begins later */
  constructor(chain: string, isPart: boolean) {
    this.chain = chain;
    this.#last = isPart ? null : { number: 0, hash: zeroHash };
  }

  /** The last link that was checked; null before the first one of a part. */
  get last(): { readonly number: number; readonly hash: string } | null {
    return this.#last;
  }

  /** @param entry null: it was removed */
  next(link: AuditLink, entry: AuditContent | null, entryId: string): AuditFinding[] {
    const { number } = link;
    const found = [...this.#compareWithLast(link)];
    const about = { number, entryId };
    if (entry === null) found.push({ kind: 'entryRemoved', ...about, text: `Entry ${number} was removed` });
    else if (sha256(contentText(entry)) !== link.contentHash)
      found.push({ kind: 'entryChanged', ...about, text: `Entry ${number} was changed after it was linked` });
    if (linkHash(this.chain, link) !== link.hash)
      found.push({ kind: 'linkChanged', ...about, text: `The link of entry ${number} was changed` });
    this.#last = { number, hash: link.hash };
    return found;
  }

  *#compareWithLast({ number, previousHash }: AuditLink): Generator<AuditFinding> {
    const last = this.#last;
    if (last === null) return;
    const expected = last.number + 1;
    if (number > expected)
      yield {
        kind: 'linkRemoved',
        number: expected,
        text:
          number === expected + 1
            ? `Entry ${expected} was removed with its link`
            : `Entries ${expected} to ${number - 1} were removed with their links`,
      };
    else if (number < expected)
      yield { kind: 'linkChanged', number, text: `Entry ${number} comes after entry ${last.number}` };
    else if (previousHash !== last.hash)
      yield { kind: 'linkChanged', number, text: `Entry ${number} does not follow entry ${last.number}` };
  }
}

type ExportedLine = AuditContent & { readonly link: AuditLink };

function isLine(value: unknown): value is ExportedLine {
  const { id, link } = (value ?? {}) as Partial<ExportedLine>;
  return (
    typeof id === 'string' &&
    Number.isSafeInteger(link?.number) &&
    [link?.hash, link?.previousHash, link?.contentHash].every((each) => typeof each === 'string')
  );
}

/** Findings of the check of an export so far. */
export interface ExportCheck {
  /** Lines that are entries. */
  readonly entries: number;
  readonly findings: readonly AuditFinding[];
  /** Last link by chain. */
  readonly heads: ReadonlyMap<string, { readonly number: number; readonly hash: string }>;
  /** Whether an entry has the hash that was searched for. */
  readonly hasHead: boolean;
}

/**
 * Checks an export, which may begin and end anywhere.
 * @param lines JSON lines, without their ends
 * @param head hash that an entry must have
 */
export async function verifyExport(lines: AsyncIterable<string>, head?: string): Promise<ExportCheck> {
  const walks = new Map<string, ChainWalk>();
  const findings: AuditFinding[] = [];
  let entries = 0;
  let lineNumber = 0;
  let hasHead = false;
  for await (const text of lines) {
    lineNumber++;
    if (text.trim() === '') continue;
    const line = parsed(text);
    if (line === null) {
      const place = `Line ${lineNumber} is not an exported entry`;
      findings.push({ kind: 'lineUnreadable', text: `${place}: continue an export that was cut` });
      continue;
    }
    entries++;
    const chain = line.organizationId ?? 'installation';
    const walk = walks.get(chain) ?? new ChainWalk(chain, true);
    walks.set(chain, walk);
    findings.push(...walk.next(line.link, line, line.id));
    hasHead ||= line.link.hash === head;
  }
  if (head !== undefined && !hasHead)
    findings.push({ kind: 'headNotFound', text: `No entry has the hash ${head}` });
  const heads = new Map([...walks].flatMap(([chain, { last }]) => (last ? [[chain, last] as const] : [])));
  return { entries, findings, heads, hasHead };
}

function parsed(text: string): ExportedLine | null {
  try {
    const value: unknown = JSON.parse(text);
    return isLine(value) ? value : null;
  } catch {
    return null;
  }
}

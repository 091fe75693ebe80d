/** Exports of the audit trail: written line by line, and continued where they were cut. */

import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { StringDecoder } from 'node:string_decoder';
import { ApiError } from '#contract/client/client.ts';
import { BadCall } from '../session/exit-codes.ts';
import { currentProcess } from '../terminal/current-process.ts';

/** Receiver of lines; each text ends with the end of a line. */
export type WriteLines = (text: string) => Promise<void>;

/** Opens the rest of an export. @param after id of the last entry that was written */
export type OpenRest = (after: string | undefined) => AsyncIterable<Uint8Array>;

/** Cuts in a row without a new line, until we give up. */
const mostFutileAttempts = 3;

function idOf(line: string): string {
  return (JSON.parse(line) as { id: string }).id;
}

/**
 * Writes an export to its end, however often it is cut.
 * @param after id of the last entry that is there already
 * @returns the number of entries that were written
 */
export async function writeExport(
  openRest: OpenRest,
  write: WriteLines,
  after: string | undefined,
): Promise<number> {
  let [last, written, futile] = [after, 0, 0];
  for (;;) {
    const before = written;
    try {
      const decoder = new StringDecoder('utf8');
      let rest = '';
      for await (const chunk of openRest(last)) {
        const text = rest + decoder.write(Buffer.from(chunk));
        const end = text.lastIndexOf('\n') + 1;
        rest = text.slice(end);
        if (end === 0) continue;
        const lines = text.slice(0, end).trimEnd().split('\n');
        await write(text.slice(0, end));
        written += lines.length;
        last = idOf(lines.at(-1) ?? '');
      }
      return written;
    } catch (error) {
      futile = written > before ? 0 : futile + 1;
      const isCut = error instanceof ApiError && error.status === 0;
      if (!isCut || futile >= mostFutileAttempts) throw error;
    }
  }
}

/** A file that has the beginning of an export, or is made. */
export interface ExportFile extends AsyncDisposable {
  /** Id of its last entry. */
  readonly lastId: string | undefined;
  write(text: string): Promise<void>;
}

const blockBytes = 64 * 1024;

/**
 * Opens a file to continue the export in it; half a line at its end is removed.
 * @throws BadCall for a file that is not an export, or cannot be written
 */
export async function openExportFile(path: string): Promise<ExportFile> {
  const file = await open(path, 'a+', 0o600).catch((error: Error) => {
    throw new BadCall(`--output: ${path} cannot be written: ${error.message}`, { cause: error });
  });
  try {
    const { size } = await file.stat();
    // From the end backwards, until there is a whole line.
    let tail = Buffer.alloc(0);
    let from = size;
    const hasLine = () => {
      const end = tail.lastIndexOf('\n');
      return end > 0 && tail.lastIndexOf('\n', end - 1) >= 0;
    };
    while (from > 0 && !hasLine()) {
      const length = Math.min(blockBytes, from);
      from -= length;
      const block = Buffer.alloc(length);
      await file.read(block, 0, length, from);
      tail = Buffer.concat([block, tail]);
    }
    const end = tail.lastIndexOf('\n') + 1;
    const line = tail.subarray(0, end).toString('utf8').trimEnd().split('\n').at(-1) ?? '';
    const lastId = line === '' ? undefined : lastIdOf(path, line);
    if (!isHalfEntry(tail.subarray(end).toString('utf8'))) throw notAnExport(path);
    await file.truncate(from + end);
    return {
      lastId,
      write: (text) => file.appendFile(text),
      [Symbol.asyncDispose]: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}

function notAnExport(path: string): BadCall {
  return new BadCall(
    `--output: ${path} is not an export of the audit trail, and was not changed. Specify another file.`,
  );
}

function isEntry(value: unknown): value is { id: string } {
  const { id, link } = (value ?? {}) as { id?: unknown; link?: unknown };
  return typeof id === 'string' && typeof link === 'object';
}

const beginningOfEntry = '{"id":"';

/** Whether it is what an interrupted export leaves at its end: only that may be removed. */
function isHalfEntry(rest: string): boolean {
  if (!rest.startsWith(beginningOfEntry) && !beginningOfEntry.startsWith(rest)) return false;
  try {
    return isEntry(JSON.parse(rest));
  } catch {
    return true;
  }
}

function lastIdOf(path: string, line: string): string {
  try {
    const entry: unknown = JSON.parse(line);
    if (isEntry(entry)) return entry.id;
  } catch {
    // Falls through to the error below.
  }
  throw notAnExport(path);
}

/** The lines of an export. @param path `-`: standard input */
export async function* exportLines(path: string): AsyncGenerator<string> {
  const input = path === '-' ? currentProcess().stdin : createReadStream(path);
  try {
    for await (const line of createInterface({ input, crlfDelay: Infinity })) yield line;
  } catch (error) {
    throw new BadCall(`--file: ${path} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

/** Reads files named on the command line; `-` is standard input. */
import { readFileSync } from 'node:fs';
import { BadCall } from '../session/exit-codes.ts';

/** @throws BadCall that names the flag and the file */
export function bytesFromFile(flag: string, file: string): Uint8Array {
  try {
    return readFileSync(file === '-' ? 0 : file);
  } catch (error) {
    throw new BadCall(
      `${flag}: ${file === '-' ? 'standard input' : file} cannot be read: ${(error as Error).message}`,
      { cause: error },
    );
  }
}

/** @throws BadCall for a file that cannot be read, is empty or is not UTF-8 */
export function textFromFile(flag: string, file: string): string {
  const bytes = bytesFromFile(flag, file);
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw new BadCall(`${flag}: ${file} is not UTF-8 text.`, { cause: error });
  }
  if (text.trim() === '') throw new BadCall(`${flag}: ${file === '-' ? 'standard input' : file} is empty.`);
  return text;
}

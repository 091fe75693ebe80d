/** Writes logs of steps: unchanged if the output shows colours, otherwise as text without them. */
import { stripVTControlCharacters } from 'node:util';
import type { LogBytesEvent } from '#contract/feeds/shapes.ts';
import { bytesOfLogEvent } from '#contract/client/log-bytes.ts';
import type { Output } from './output.ts';

/** A line that is longer than this is written in parts. */
const longestHeldCharacters = 64 * 1024;

const escape = 0x1b;

export class LogPrinter {
  readonly #output: Pick<Output, 'write' | 'hasColours'>;
  /** Text of an unfinished line, which may end in the middle of a colour sequence. */
  #held = '';
  #isAtLineStart = true;
  /** The log may not have reset its colours. */
  #mayBeColoured = false;

  constructor(output: Pick<Output, 'write' | 'hasColours'>) {
    this.#output = output;
  }

  async print(event: Pick<LogBytesEvent, 'text' | 'base64'>): Promise<void> {
    if (this.#output.hasColours) return this.#writeBytes(bytesOfLogEvent(event));
    if (event.text === undefined) {
      await this.#writeHeld();
      return this.#writeBytes(bytesOfLogEvent(event));
    }
    const text = this.#held + event.text;
    const end = text.length > longestHeldCharacters ? text.length : text.lastIndexOf('\n') + 1;
    this.#held = text.slice(end);
    await this.#writeText(text.slice(0, end));
  }

  /** Ends an unfinished line and resets colours, so that another line can follow. */
  async endLine(): Promise<void> {
    await this.#writeHeld();
    if (this.#mayBeColoured) await this.#output.write('\u001b[0m');
    this.#mayBeColoured = false;
    if (!this.#isAtLineStart) await this.#output.write('\n');
    this.#isAtLineStart = true;
  }

  async #writeHeld(): Promise<void> {
    const text = this.#held;
    this.#held = '';
    await this.#writeText(text);
  }

  async #writeText(text: string): Promise<void> {
    const stripped = stripVTControlCharacters(text);
    if (stripped === '') return;
    this.#isAtLineStart = stripped.endsWith('\n');
    await this.#output.write(stripped);
  }

  async #writeBytes(bytes: Uint8Array): Promise<void> {
    if (bytes.length === 0) return;
    this.#isAtLineStart = bytes.at(-1) === 0x0a;
    this.#mayBeColoured ||= this.#output.hasColours && bytes.includes(escape);
    await this.#output.write(bytes);
  }
}

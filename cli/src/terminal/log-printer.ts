/** Writes finished lines of the logs of steps as safe text, with their colours if the output shows colours. */

import { bytesOfLogEvent } from '#contract/client/log-bytes.ts';
import type { LogBytesEvent } from '#contract/feeds/shapes.ts';
import { FinishedLines } from './finished-lines.ts';
import type { Output } from './output.ts';
import { SafeText } from './safe-text.ts';

export class LogPrinter {
  readonly #output: Pick<Output, 'write' | 'hasColours'>;
  readonly #lines = new FinishedLines();
  readonly #safe: SafeText;
  #isAtLineStart = true;

  constructor(output: Pick<Output, 'write' | 'hasColours'>) {
    this.#output = output;
    this.#safe = new SafeText(output.hasColours);
  }

  async print(event: Pick<LogBytesEvent, 'text' | 'base64'>): Promise<void> {
    if (event.text !== undefined) return this.#write(this.#safe.push(this.#lines.push(event.text)));
    const before = this.#safe.push(this.#lines.end());
    await this.#write(before + this.#safe.push(bytesOfLogEvent(event)));
  }

  /** Ends an unfinished line and resets colours, so that another line can follow. */
  async endLine(): Promise<void> {
    await this.#write(this.#safe.push(this.#lines.end()) + this.#safe.end());
    if (!this.#isAtLineStart) await this.#output.write('\n');
    this.#isAtLineStart = true;
  }

  async #write(text: string): Promise<void> {
    if (text === '') return;
    const shown = text.replace(/(?:\u001b\[[\d;]*m)+$/, '');
    if (shown !== '') this.#isAtLineStart = shown.endsWith('\n');
    await this.#output.write(text);
  }
}

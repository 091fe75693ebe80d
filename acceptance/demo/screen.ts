/** Output of the demo. */
import { stripVTControlCharacters, styleText } from 'node:util';

const colours = process.stdout.isTTY && process.env.NO_COLOR === undefined;
export const style = (format: Parameters<typeof styleText>[0], text: string) =>
  colours ? styleText(format, text) : text;

/** Announces what comes next. */
export function say(text: string): void {
  process.stdout.write(`\n${style('bold', `▸ ${text}`)}\n`);
}

/** Prints a line below it. */
export function note(text: string): void {
  process.stdout.write(`  ${text}\n`);
}

/** Prints log bytes as lines, each behind its step's name. */
export class LogPrinter {
  #step = '';
  #rest = '';

  print(step: string, text: string): void {
    if (step !== this.#step) {
      this.flush();
      this.#step = step;
      process.stdout.write(`  ${style('cyan', step)}\n`);
    }
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.#line(line);
  }

  flush(): void {
    if (stripVTControlCharacters(this.#rest) !== '') this.#line(this.#rest);
    this.#rest = '';
  }

  #line(line: string): void {
    process.stdout.write(`  ${style('dim', '│')} ${colours ? line : stripVTControlCharacters(line)}\n`);
  }
}

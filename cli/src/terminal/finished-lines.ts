/** Lines of a log as a terminal leaves them: of what a program overwrites, such as a progress bar, the last text stays. */

/** A longer line is shown as it comes. */
const longestUnfinished = 4096;

/** Index behind the last character that is not a carriage return. */
function endOf(line: string): number {
  let end = line.length;
  while (end > 0 && line[end - 1] === '\r') end -= 1;
  return end;
}

function finished(line: string): string {
  const end = endOf(line);
  return line.slice(end === 0 ? end : line.lastIndexOf('\r', end - 1) + 1, end);
}

export class FinishedLines {
  #unfinished = '';

  /** @returns the lines that are finished */
  push(chunk: string): string {
    const text = this.#unfinished + chunk;
    const end = text.lastIndexOf('\n') + 1;
    const rest = text.slice(end);
    // A line end may follow a carriage return.
    this.#unfinished = finished(rest) + (rest.endsWith('\r') ? '\r' : '');
    const done = text.slice(0, end).split('\n').map(finished).join('\n');
    return this.#unfinished.length > longestUnfinished ? done + this.end() : done;
  }

  /** @returns the unfinished line */
  end(): string {
    const rest = finished(this.#unfinished);
    this.#unfinished = '';
    return rest;
  }
}

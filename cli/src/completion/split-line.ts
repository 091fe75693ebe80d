/** Splits a command line into words as a shell does; good enough to complete the last one. */

export interface Word {
  readonly text: string;
  /** The quote that is open at its end, or an empty text. */
  readonly quote: '' | '"' | "'";
}

/**
 * The words of the text; the last one is incomplete, and empty after a blank.
 * @param line text of the command line before the cursor
 */
export function splitLine(line: string): Word[] {
  const words: Word[] = [];
  let text = '';
  let quote: Word['quote'] = '';
  let isIn = false;
  for (let index = 0; index < line.length; index++) {
    const character = line[index] ?? '';
    const isBlank = /\s/.test(character);
    if (quote === '' && isBlank) {
      if (isIn) words.push({ text, quote });
      [text, isIn] = ['', false];
      continue;
    }
    isIn = true;
    if (character === '\\' && quote !== "'") text += line[++index] ?? '';
    else if (quote === '' && (character === '"' || character === "'")) quote = character;
    else if (quote !== '' && character === quote) quote = '';
    else text += character;
  }
  return [...words, { text, quote }];
}

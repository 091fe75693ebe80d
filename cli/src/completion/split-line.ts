/** A command line as a shell reads its words, up to the cursor; good enough to complete the last one. */

export interface Word {
  readonly text: string;
  /** The quote that is open at its end, or none. */
  readonly quote: '' | '"' | "'";
}

/**
 * Words up to the end of the text; the last one is the one that is being written, empty behind a blank.
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

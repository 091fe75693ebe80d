import { stripVTControlCharacters } from 'node:util';

/** Text for one line of a terminal: no colours, no control characters, no line ends. */
export function plain(text: string): string {
  return stripVTControlCharacters(text).replaceAll(/[\u0000-\u001f\u007f-\u009f]+/g, ' ');
}

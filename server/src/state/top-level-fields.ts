/**
 * Changes one top-level number of a JSON object's text and leaves every other byte as it is: reading and
 * writing a state as values would round numbers that a provider has stored with more digits than ours have.
 */

/** Index behind a string that begins at `start`. */
function behindString(text: string, start: number): number {
  for (let index = start + 1; index < text.length; index++) {
    if (text[index] === '\\') index++;
    else if (text[index] === '"') return index + 1;
  }
  return text.length;
}

/** @returns the location of a top-level key's value, or null if there is no such key with a plain value */
function placeOf(text: string, key: string): { start: number; end: number } | null {
  let depth = 0;
  for (let index = 0; index < text.length; index++) {
    const character = text[index];
    if (character === '{' || character === '[') depth++;
    else if (character === '}' || character === ']') depth--;
    else if (character === '"') {
      const end = behindString(text, index);
      const value = /\s*:\s*([-+.\w]+)/y;
      value.lastIndex = end;
      const found = depth === 1 && JSON.parse(text.slice(index, end)) === key ? value.exec(text) : null;
      if (found?.[1] !== undefined) return { start: value.lastIndex - found[1].length, end: value.lastIndex };
      index = end - 1;
    }
  }
  return null;
}

/**
 * @param text a valid JSON object
 * @throws Error where the object has no such number at its top
 */
export function withTopLevelNumber(text: string, key: string, value: number): string {
  const place = placeOf(text, key);
  if (!place) throw new Error(`the text has no number "${key}" at its top level`);
  return `${text.slice(0, place.start)}${value}${text.slice(place.end)}`;
}

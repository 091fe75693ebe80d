/** Paths into a chart's values that names of variables express. */

/**
 * Splits a name such as `image.tag` at its dots; `\.` is a dot within a key.
 * @returns null if a key is empty or has a control character
 */
export function valuePath(name: string): string[] | null {
  const keys = [''];
  for (const [, escaped, dot, other] of name.matchAll(/\\([.\\])|(\.)|([^])/gu)) {
    if (dot === undefined) keys.push(`${keys.pop() ?? ''}${escaped ?? other ?? ''}`);
    else keys.push('');
  }
  return keys.every((key) => key !== '' && !/\p{Cc}/u.test(key)) ? keys : null;
}

/**
 * Splits a key of `--set` such as `servers[0].name`.
 * @returns null if it cannot be split
 */
export function setPath(name: string): (string | number)[] | null {
  const path: (string | number)[] = [];
  // A name and its indexes, up to a dot that is not escaped.
  const part = /((?:\\[^]|[^.[\]\\])*)((?:\[\d{1,9}\])*)(\.|$)/uy;
  for (;;) {
    const from = part.lastIndex;
    const found = part.exec(name);
    if (found === null) return null;
    const [whole, key = '', indexes = '', end] = found;
    if (key === '' || /\p{Cc}/u.test(key) || (whole === '' && from < name.length)) return null;
    path.push(key.replaceAll(/\\([^])/gu, '$1'));
    for (const [, index] of indexes.matchAll(/\[(\d+)\]/g)) path.push(Number(index));
    if (end === '') return part.lastIndex === name.length ? path : null;
  }
}

/** Reads lists of resource addresses. Apart from the schemas, because every run reads them too. */

/** Addresses out of a comma-separated text; a comma inside of brackets or quotes belongs to its address. */
export function splitTargets(text: string): string[] {
  const addresses: string[] = [];
  let start = 0;
  let inside: 'nothing' | 'brackets' | 'quotes' = 'nothing';
  for (let index = 0; index < text.length; index++) {
    const character = text[index];
    if (inside === 'quotes') {
      if (character === '\\') index++;
      else if (character === '"') inside = 'brackets';
    } else if (inside === 'brackets') {
      if (character === '"') inside = 'quotes';
      else if (character === ']') inside = 'nothing';
    } else if (character === '[') inside = 'brackets';
    else if (character === ',') {
      addresses.push(text.slice(start, index));
      start = index + 1;
    }
  }
  addresses.push(text.slice(start));
  return addresses.map((address) => address.trim()).filter((address) => address !== '');
}

/** Whether a text, of a configuration or of values, may use a name as a whole, without parsing it; JSON may spell it with escapes. */
export function mayName(text: string, name: string): boolean {
  const literal = name.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
  const whole = new RegExp(String.raw`(?<![\p{ID_Continue}-])${literal}(?![\p{ID_Continue}-])`, 'u');
  return whole.test(text) || text.includes(String.raw`\u`);
}

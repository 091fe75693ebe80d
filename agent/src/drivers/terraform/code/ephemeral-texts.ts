/** Texts that may be about ephemeral variables, without parsing them. */

/** A name as a whole; JSON may spell it with escapes. */
function mayHave(text: string, name: string): boolean {
  const literal = name.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
  const whole = new RegExp(String.raw`(?<![\p{ID_Continue}-])${literal}(?![\p{ID_Continue}-])`, 'u');
  return whole.test(text) || text.includes(String.raw`\u`);
}

/** Of a configuration. */
export function mayBeEphemeral(text: string): boolean {
  return mayHave(text, 'ephemeral');
}

/** Whether a file of values may set a variable. */
export function maySet(text: string, name: string): boolean {
  return mayHave(text, name);
}

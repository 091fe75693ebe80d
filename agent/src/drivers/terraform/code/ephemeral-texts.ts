/** Texts that may be about ephemeral variables, without parsing them. */

/** Of a configuration; JSON may spell it with escapes. */
export function mayBeEphemeral(text: string): boolean {
  return text.includes('ephemeral') || text.includes(String.raw`\u`);
}

/** Whether a file of values may set a variable. */
export function maySet(text: string, name: string): boolean {
  return text.includes(name) || text.includes(String.raw`\u`);
}

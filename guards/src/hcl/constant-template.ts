/** Texts of parsed HCL: templates that are constant, and what they stand for. */

/** Whether a text of parsed HCL contains no expression. */
export function isConstantTemplate(text: string): boolean {
  return !/[$%]\{/.test(text.replaceAll(/\$\$\{|%%\{/g, ''));
}

/** The text that a constant template evaluates to. */
export function unescapeTemplate(text: string): string {
  return text.replaceAll('$${', () => '${').replaceAll('%%{', '%{');
}

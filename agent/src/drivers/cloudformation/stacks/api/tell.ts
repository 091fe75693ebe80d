/** Lines for people: standard output is for the report. */

export function tell(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** Times on the command line. */

const form =
  /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)(?:Z| UTC|([+-]\d{2}):?(\d{2}))?)?$/;

/**
 * Reads a time as people write it and as we print it. Without a zone it is UTC, as all times that we print.
 * @param text such as `2026-01-31`, `2026-01-31T12:00+01:00` or `2026-01-31 12:00:00 UTC`
 * @returns the time as the service takes it; null for anything else, also for days that no calendar has
 */
export function instantOf(text: string): string | null {
  const [, date, time = '00:00', hours, minutes] = form.exec(text) ?? [];
  const day = new Date(`${date}T00:00Z`);
  // A day that a month does not have would be one of the next month.
  if (date === undefined || Number.isNaN(day.getTime()) || !day.toISOString().startsWith(date)) return null;
  const instant = new Date(`${date}T${time}${hours === undefined ? 'Z' : `${hours}:${minutes}`}`);
  return Number.isNaN(instant.getTime()) ? null : instant.toISOString();
}

/** Times as people read them. */

/** @param milliseconds from `0.4 s` to `3 h 12 min` */
export function durationText(milliseconds: number): string {
  const seconds = Math.max(0, milliseconds) / 1000;
  if (seconds < 59.95) return `${seconds.toFixed(1)} s`;
  const minutes = Math.floor(Math.round(seconds) / 60);
  if (minutes < 60) return `${minutes} min ${Math.round(seconds) % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** From one time to another; 0 unless both are known. */
export function millisecondsBetween(from: string | null | undefined, to: string | null | undefined): number {
  return from && to ? Date.parse(to) - Date.parse(from) : 0;
}

/** The same as text; empty unless both are known. */
export function durationBetween(from: string | null | undefined, to: string | null | undefined): string {
  return from && to ? durationText(millisecondsBetween(from, to)) : '';
}

/** A time in UTC to the second, as `2026-11-21 12:30:05 UTC`; empty if it is not known. */
export function timeText(instant: string | null | undefined): string {
  return instant ? `${new Date(instant).toISOString().slice(0, 19).replace('T', ' ')} UTC` : '';
}

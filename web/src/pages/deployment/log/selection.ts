/** The lines that the address of the page names. */

/** Lines of a step, from 1 on, both ends included. */
export interface LineSelection {
  readonly step: string;
  readonly from: number;
  readonly to: number;
}

/** @param line `12` or `12-20` @returns undefined: the address names no lines */
export function selectionOf(step: string | undefined, line: string | undefined): LineSelection | undefined {
  const match = /^(\d{1,10})(?:-(\d{1,10}))?$/.exec(line ?? '');
  if (step === undefined || !match) return undefined;
  const first = Number(match[1]);
  const last = Number(match[2] ?? match[1]);
  if (first < 1 || last < 1) return undefined;
  return { step, from: Math.min(first, last), to: Math.max(first, last) };
}

/** Lines in the address; one line as a number, which it writes without quotes. */
export function lineParameter({ from, to }: LineSelection): string | number {
  return from === to ? from : `${from}-${to}`;
}

/** A selection up to another line; in another step it begins there. */
export function extended(selection: LineSelection | undefined, step: string, line: number): LineSelection {
  if (selection?.step !== step) return { step, from: line, to: line };
  return line < selection.from
    ? { ...selection, from: line }
    : { step, from: selection.from, to: Math.max(line, selection.from) };
}

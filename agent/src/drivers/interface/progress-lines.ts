/** Readers of progress that a tool writes line by line. */
import type { ProgressEvent, ProgressReader } from './driver.ts';
import { lineSplitter } from './lines.ts';

/**
 * @param longestBytes longer lines say nothing, and are not buffered
 * @param eventsOf the event of a line, or several; null: it says nothing
 */
export function progressOfLines(
  longestBytes: number,
  eventsOf: (line: string) => ProgressEvent | readonly ProgressEvent[] | null,
): ProgressReader {
  const events: ProgressEvent[] = [];
  const take = lineSplitter(longestBytes, (line) => {
    const found = eventsOf(line);
    if (found !== null) events.push(...[found].flat());
  });
  return {
    read(bytes) {
      take(bytes);
      return events.splice(0);
    },
  };
}

/** Warnings that the service sends with a reply, such as a setting that has no effect yet. */
import { splitWarnings, warningHeader } from '#contract/schema/warning-header.ts';

/** @returns a `fetch` that reports each warning of the service once */
export function reportingFetch(send: typeof fetch, tell: (text: string) => void): typeof fetch {
  const reported = new Set<string>();
  return async (input, init) => {
    const answer = await send(input, init);
    for (const warning of splitWarnings(answer.headers.get(warningHeader))) {
      if (!reported.has(warning)) tell(`Warning: ${warning}`);
      reported.add(warning);
    }
    return answer;
  };
}

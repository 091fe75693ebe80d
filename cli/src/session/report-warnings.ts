/** Warnings that the service sends with a reply, such as a setting that has no effect yet. */

/** @param header `x-envarium-warning`: percent-encoded texts separated by commas, or a plain text */
export function warningsOf(header: string | null): string[] {
  if (header === null || header.trim() === '') return [];
  const texts = header.split(',').map((text) => text.trim());
  if (texts.some((text) => /\s/.test(text))) return [header.trim()];
  return texts.map((text) => {
    try {
      return decodeURIComponent(text);
    } catch {
      return text;
    }
  });
}

/** @returns a `fetch` that reports each warning of the service once */
export function reportingFetch(send: typeof fetch, tell: (text: string) => void): typeof fetch {
  const reported = new Set<string>();
  return async (input, init) => {
    const answer = await send(input, init);
    for (const warning of warningsOf(answer.headers.get('x-envarium-warning'))) {
      if (!reported.has(warning)) tell(`Warning: ${warning}`);
      reported.add(warning);
    }
    return answer;
  };
}

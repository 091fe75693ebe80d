/** Lists that the service returns in pages. */
const largestPage = 100;

/**
 * All pages combined.
 * @param ask returns the page at an offset
 * @param most rows to return
 */
export async function allPages<Row>(
  ask: (page: { limit: number; offset: number }) => Promise<Row[]>,
  most = Number.POSITIVE_INFINITY,
): Promise<Row[]> {
  const all: Row[] = [];
  for (;;) {
    const limit = Math.min(largestPage, most - all.length);
    const page = await ask({ limit, offset: all.length });
    all.push(...page);
    if (page.length < limit || all.length >= most) return all;
  }
}

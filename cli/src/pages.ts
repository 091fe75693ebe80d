/** Lists that the service answers in pages. */
const largestPage = 100;

/**
 * All pages as one list.
 * @param ask answers the page of so many rows from an offset on
 * @param most rows that are wanted
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

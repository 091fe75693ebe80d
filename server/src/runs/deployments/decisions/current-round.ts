import type { Connection } from '../../../framework/context.ts';
import type { DeploymentRow } from '../../../rows/deployments/deployment-store.ts';
import { listReviews } from '../../../rows/deployments/review-store.ts';
import { levelNumber } from './decide-level.ts';

/** The round that a deployment is at: each plan begins one, and each approval. */
export async function currentRound(
  db: Connection,
  { id, level }: Pick<DeploymentRow, 'id' | 'level'>,
): Promise<number> {
  const reviews = await listReviews(db, [id]);
  return levelNumber(level) + reviews.filter(({ action }) => action === 'approved').length;
}

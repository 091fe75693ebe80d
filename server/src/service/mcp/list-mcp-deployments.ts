/** A short list of deployments, for readers with little room. */
import { type McpDeploymentList, type McpListedDeployment, mcpListedFields } from '#contract/mcp/shapes.ts';
import type { operations } from '#contract/operations.ts';
import type { DeploymentStatus } from '#contract/schema/enumerations.ts';
import { parseExactly } from '#contract/schema/exact-json.ts';
import type { QueryOf } from '#contract/schema/operation.ts';
import type { ActorContext } from '../../framework/context.ts';
import { pickFields } from '../../framework/http/replies/pick-fields.ts';
import { largeColumns, listDeploymentPage } from '../../rows/deployments/shown-deployment-store.ts';
import { getUsers } from '../../rows/users/user-store.ts';
import { deploymentTexts, peopleOf } from '../../runs/deployments/views/deployment-view.ts';

const defaultPage = 10;
const shown = mcpListedFields.join(',');

/** The words of `statuses` were checked. */
export async function listMcpDeployments(
  context: ActorContext,
  environmentId: string,
  { statuses, limit = defaultPage, offset = 0 }: QueryOf<typeof operations.listMcpDeployments>,
): Promise<McpDeploymentList> {
  const filter = { environmentId, statuses: statuses?.split(',') as DeploymentStatus[] | undefined };
  const { rows, total } = await listDeploymentPage(context.db, filter, { limit, offset }, largeColumns);
  const users = await getUsers(context.db, peopleOf(rows));
  const texts = await deploymentTexts(context, rows, users);
  return {
    deployments: texts.map(({ text }) => pickFields(parseExactly(text) as McpListedDeployment, shown)),
    hasMore: offset + rows.length < total,
  };
}

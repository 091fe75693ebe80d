/** The deployments that an agent runs now. */
import { useQueries } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { read, useRead } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { deploymentLooks, Status } from '../../design/status.tsx';
import { Part } from '../../records/Part.tsx';
import classes from '../../records/records.module.css';
import { Loaded } from '../../ui/Loaded.tsx';
import type { ListedAgent } from './agent-words.ts';

const running =
  'DEPLOY_IN_PROGRESS,DESTROY_IN_PROGRESS,TASK_IN_PROGRESS,DRY_RUN_IN_PROGRESS,ABORTING' as const;

export function AgentRuns({ agent }: { readonly agent: Pick<ListedAgent, 'id' | 'agentKey'> }) {
  const { organizationId } = useSession();
  const environments = useRead('listEnvironments', { query: { organizationId, status: running } });
  const ids = (environments.data ?? []).flatMap(({ latestDeploymentLog }) => latestDeploymentLog?.id ?? []);
  const deployments = useQueries({ queries: ids.map((id) => read('getDeployment', { params: { id } })) });
  const own = deployments
    .flatMap(({ data }) => data ?? [])
    .filter(({ agentId }) => agentId === agent.id || agentId === agent.agentKey);
  return (
    <Part title="Runs now">
      <Loaded query={environments} lines={2}>
        {(found) => (
          <ul className={classes.list}>
            {own.length === 0 && <li>Nothing, as far as you may see.</li>}
            {own.map(({ id, status, environmentId }) => (
              <li key={id}>
                <Link to="/deployments/$deploymentId" params={{ deploymentId: id ?? '' }}>
                  <bdi>{found.find((each) => each.id === environmentId)?.name ?? id}</bdi>
                </Link>
                <Status look={deploymentLooks[status]} />
              </li>
            ))}
          </ul>
        )}
      </Loaded>
    </Part>
  );
}

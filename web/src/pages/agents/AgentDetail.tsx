/** One agent: its processes, what it runs, its secrets, and its end. */
import { Checkbox } from '@mantine/core';
import { useQueries } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { read, useRead } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { deploymentLooks, Status } from '../../design/status.tsx';
import { Detail } from '../../records/Detail.tsx';
import { Part } from '../../records/Part.tsx';
import { nameOfUser } from '../../records/person.tsx';
import { Removal } from '../../records/Removal.tsx';
import classes from '../../records/records.module.css';
import { Facts } from '../../ui/Facts.tsx';
import { Loaded } from '../../ui/Loaded.tsx';
import { TimeAgo } from '../../ui/Time.tsx';
import { AgentProjects } from './AgentProjects.tsx';
import { AgentSecrets } from './AgentSecrets.tsx';
import { AgentSettings } from './AgentSettings.tsx';
import {
  type AgentProcess,
  agentLook,
  isolationTexts,
  type ListedAgent,
  limitsText,
  loadText,
} from './agent-words.ts';

const running =
  'DEPLOY_IN_PROGRESS,DESTROY_IN_PROGRESS,TASK_IN_PROGRESS,DRY_RUN_IN_PROGRESS,ABORTING' as const;

/** The deployments that an agent runs now. */
function AgentRuns({ agent }: { readonly agent: Pick<ListedAgent, 'id' | 'agentKey'> }) {
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
        {(all) => (
          <ul className={classes.list}>
            {own.length === 0 && <li>Nothing that you can see.</li>}
            {own.map(({ id, status, environmentId }) => (
              <li key={id}>
                <Link to="/deployments/$deploymentId" params={{ deploymentId: id ?? '' }}>
                  <bdi>{all.find((each) => each.id === environmentId)?.name ?? id}</bdi>
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

export interface AgentDetailProps {
  readonly agent: ListedAgent;
  readonly whyNot: string | undefined;
  readonly onClose: () => void;
}

const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });

function Process({
  process: { hostname, version, contactAt, isolation },
}: {
  readonly process: AgentProcess;
}) {
  return (
    <li>
      <div style={{ width: '100%' }}>
        <Facts
          facts={[
            ['Machine', hostname && <code>{hostname}</code>],
            ['Version', version],
            [
              'Last contact',
              <time key="at" dateTime={contactAt}>
                {clock.format(new Date(contactAt))}
              </time>,
            ],
            ['Limits of a run', limitsText(isolation)],
            [
              'Isolation',
              <ul key="isolation" style={{ paddingInlineStart: '1.1em' }}>
                {isolationTexts(isolation).map((text) => (
                  <li key={text} style={{ display: 'list-item', padding: 0, border: 0 }}>
                    {text}
                  </li>
                ))}
              </ul>,
            ],
          ]}
        />
      </div>
    </li>
  );
}

function Problems({ agent: { health } }: { readonly agent: ListedAgent }) {
  if (health === undefined || health.problems.length === 0) return null;
  return (
    <Part title="Problems">
      <ul className={classes.list}>
        {health.problems.map((text) => (
          <li key={text}>
            <bdi>{text}</bdi>
          </li>
        ))}
      </ul>
    </Part>
  );
}

function Processes({ agent: { processes = [], status } }: { readonly agent: ListedAgent }) {
  return (
    <Part
      title="Processes in contact"
      lead={
        status === 'INACTIVE'
          ? 'No process is in contact. Runs that have started continue in their runners.'
          : undefined
      }
    >
      {processes.length === 0 ? (
        <p>None: start the agent with a secret.</p>
      ) : (
        <ul className={classes.list}>
          {processes.map((process) => (
            <Process key={`${process.hostname}.${process.contactAt}`} process={process} />
          ))}
        </ul>
      )}
    </Part>
  );
}

function DeleteAgent({ agent, whyNot, onClose }: AgentDetailProps) {
  const [isForced, setForced] = useState(false);
  const name = agent.name ?? agent.agentKey;
  return (
    <Removal
      operation="deleteAgent"
      input={{ params: { agentKey: agent.agentKey }, query: isForced ? { force: true } : {} }}
      refreshes={['listAgents']}
      label="Delete agent"
      question={`Delete ${name}?`}
      done="The agent was deleted"
      whyNot={whyNot ?? (agent.isSaas ? 'The shared agent is part of the installation.' : undefined)}
      onDone={onClose}
    >
      <p>Its secrets are revoked, too: the next call of each process is refused.</p>
      <Checkbox
        label="Even while it has runs"
        description="They count as lost after they have been silent for some time."
        checked={isForced}
        onChange={(event) => setForced(event.currentTarget.checked)}
      />
    </Removal>
  );
}

export function AgentDetail(props: AgentDetailProps) {
  const { agent, whyNot, onClose } = props;
  const { agentKey, name, description, version, createdAt, createdByUser, isSaas } = agent;
  return (
    <Detail title={name ?? agentKey} onClose={onClose}>
      <Facts
        facts={[
          ['Status', <Status key="status" look={agentLook(agent)} />],
          ['Load', loadText(agent)],
          [
            'Oldest waiting job',
            agent.health?.oldestQueuedAt && <TimeAgo at={agent.health.oldestQueuedAt} />,
          ],
          ['What for', description && <bdi>{description}</bdi>],
          ['Version', version],
          ['Runs deployments of', isSaas ? 'All organizations of the installation' : 'This organization'],
          ['Created', createdAt && <TimeAgo at={createdAt} />],
          ['By', createdByUser && <bdi>{nameOfUser(createdByUser)}</bdi>],
          ['Key', <code key="key">{agentKey}</code>],
        ]}
      />
      <Problems agent={agent} />
      <Processes agent={agent} />
      <AgentRuns agent={agent} />
      <AgentProjects agent={agent} whyNot={whyNot} />
      {!isSaas && <AgentSettings agent={agent} whyNot={whyNot} />}
      {!isSaas && <AgentSecrets agentKey={agentKey} whyNot={whyNot} />}
      <div>
        <DeleteAgent agent={agent} whyNot={whyNot} onClose={onClose} />
      </div>
    </Detail>
  );
}

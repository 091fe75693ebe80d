/** Everything else that is known of a deployment. */
import { Anchor } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useRead } from '../../../api/queries.ts';
import { useSession } from '../../../api/session.ts';
import { deploymentTypeWords, triggerWords } from '../../../design/words.ts';
import { TimeAgo } from '../../../ui/Time.tsx';
import type { DeploymentReply } from '../facts/reads.ts';
import classes from '../parts/parts.module.css';

/** Names with versions, one to a line. */
function VersionList({ versions = {} }: { readonly versions: Readonly<Record<string, string>> | undefined }) {
  return Object.entries(versions).map(([name, version]) => (
    <div key={name}>
      <bdi className="mono">{name}</bdi> {version}
    </div>
  ));
}

type DeploymentFact = readonly [name: string, value: ReactNode];

const mono = (text: string | null | undefined): ReactNode =>
  text === undefined || text === null || text === '' ? null : <bdi className="mono">{text}</bdi>;

const time = (at: string | null | undefined): ReactNode => (at ? <TimeAgo at={at} /> : null);

function codeFacts(deployment: DeploymentReply): DeploymentFact[] {
  const { blueprintId, blueprintName, blueprintRepository, blueprintRevision, blueprintPath } = deployment;
  const { blueprintType, gitMetadata, providerVersions = {}, moduleVersions = {} } = deployment;
  return [
    [
      'Template',
      <Anchor key="template" component={Link} to={`/templates/${blueprintId}`}>
        <bdi>{blueprintName}</bdi>
      </Anchor>,
    ],
    ['Tool', blueprintType],
    ['Repository', mono(blueprintRepository)],
    ['Revision', blueprintRevision === '' ? 'the default branch' : mono(blueprintRevision)],
    ['Path', mono(blueprintPath)],
    ['Commit', mono(gitMetadata?.commit)],
    ['Branch', mono(gitMetadata?.branch)],
    ['Committed', time(gitMetadata?.timestamp)],
    ['Providers', Object.keys(providerVersions).length > 0 && <VersionList versions={providerVersions} />],
    ['Modules', Object.keys(moduleVersions).length > 0 && <VersionList versions={moduleVersions} />],
  ];
}

function runFacts(deployment: DeploymentReply): DeploymentFact[] {
  const { id, type, trigger, startedByUser, agentId, planHash, stateVersionId, targets = [] } = deployment;
  return [
    ['Deployment', mono(id)],
    ['Type', deploymentTypeWords[type]],
    ['Cause', trigger === undefined ? null : triggerWords[trigger]],
    ['Started by', <bdi key="by">{startedByUser.name}</bdi>],
    ['Requested', time(deployment.queuedAt)],
    ['Started', time(deployment.startedAt)],
    ['Ended', time(deployment.finishedAt)],
    ['Pull request', mono(deployment.prNumber)],
    ['Targets', targets.length > 0 && targets.map((target) => <div key={target}>{mono(target)}</div>)],
    ['Agent', agentId !== undefined && <AgentName id={agentId} />],
    ['Hash of the plan', mono(planHash)],
    ['State version', mono(stateVersionId)],
    ['Hash of the state', mono(deployment.stateFileHash?.value)],
  ];
}

function Facts({ facts }: { readonly facts: readonly DeploymentFact[] }) {
  return (
    <dl className={classes.facts}>
      {facts
        .filter(([, value]) => value !== null && value !== false && value !== undefined)
        .map(([name, value]) => (
          <div key={name} className={classes.fact}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

/** Commits in the code that were not deployed at the drift check. */
function DriftCause({ deployment: { driftCause } }: { readonly deployment: DeploymentReply }) {
  if (driftCause === undefined || driftCause.unappliedCommits.length === 0) return null;
  return (
    <>
      <h2 className={classes.factsHead}>Commits that were never deployed</h2>
      <p>They explain differences that no one made in the cloud.</p>
      <ul>
        {driftCause.unappliedCommits.map(({ commitHash, userEmail, timestamp }) => (
          <li key={commitHash}>
            <code>{commitHash.slice(0, 10)}</code> by <bdi>{userEmail}</bdi> <TimeAgo at={timestamp} />
          </li>
        ))}
      </ul>
    </>
  );
}

/** The agent by its name, with whether it is heard of; its id where it is gone. */
function AgentName({ id }: { readonly id: string }) {
  const { organizationId } = useSession();
  const { data: agents = [] } = useRead('listAgents', { query: { organizationId } });
  const agent = agents.find((each) => each.id === id || each.agentKey === id);
  const silentSince = agent?.status === 'INACTIVE' ? agent.lastContactAt : undefined;
  return (
    <>
      <bdi>{agent?.name ?? id}</bdi>
      {agent?.status === 'ACTIVE' && ', in contact'}
      {silentSince !== undefined && (
        <>
          , last heard from <TimeAgo at={silentSince} />
        </>
      )}
    </>
  );
}

export function DetailsTab({ deployment }: { readonly deployment: DeploymentReply }) {
  return (
    <>
      <Facts facts={runFacts(deployment)} />
      <h2 className={classes.factsHead}>Code</h2>
      <Facts facts={codeFacts(deployment)} />
      <DriftCause deployment={deployment} />
    </>
  );
}

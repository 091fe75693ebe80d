/** Composition of an environment: code, tool, versions, ids, and automatic events. */
import { CopyButton, UnstyledButton } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useRead } from '../../../api/queries.ts';
import { toolName } from '../../../design/words.ts';
import { TimeAgo } from '../../../ui/Time.tsx';
import classes from '../facts/environment.module.css';
import type { EnvironmentProps, EnvironmentReply } from '../facts/reads.ts';

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

function Copied({ text, label, shown = text }: { text: string; label: string; shown?: string }) {
  return (
    <CopyButton value={text}>
      {({ copied, copy }) => (
        <UnstyledButton className={classes.copied} onClick={copy} title={text}>
          <code>{shown}</code> <span className={classes.faint}>{copied ? 'copied' : 'copy'}</span>
          <span className="visually-hidden"> {label}</span>
        </UnstyledButton>
      )}
    </CopyButton>
  );
}

const versionFields = [
  ['terraformVersion', 'terraform'],
  ['opentofuVersion', 'OpenTofu'],
  ['terragruntVersion', 'terragrunt'],
  ['pulumiVersion', 'Pulumi'],
  ['ansibleVersion', 'Ansible'],
] as const;

/** Repository, revision and tool. The template itself may be out of sight: then what the last deployment used. */
function Code({ environment }: { readonly environment: EnvironmentReply }) {
  const { latestDeploymentLog: latest, isSingleUseBlueprint, blueprintId } = environment;
  const id = latest?.blueprintId ?? blueprintId ?? '';
  const { data: template } = useRead('getTemplate', { params: { id } }, { enabled: id !== '' });
  const type = template?.type ?? latest?.blueprintType;
  const versions = versionFields.filter(([field]) => template?.[field]);
  return (
    <>
      {!isSingleUseBlueprint && id !== '' && (
        <Fact name="Template">
          <Link to="/templates/$templateId" params={{ templateId: id }}>
            <bdi>{template?.name ?? latest?.blueprintName}</bdi>
          </Link>
        </Fact>
      )}
      <Fact name="Repository">
        <code>{template?.repository ?? latest?.blueprintRepository}</code>
      </Fact>
      <Fact name="Revision">
        <code>{latest?.blueprintRevision || template?.revision || 'the default branch'}</code>
      </Fact>
      {(template?.path ?? latest?.blueprintPath) ? (
        <Fact name="Path">
          <code>{template?.path ?? latest?.blueprintPath}</code>
        </Fact>
      ) : null}
      {type && (
        <Fact name="Tool">
          {toolName(type)}
          {versions.map(([field, name]) => (
            <span key={field} className={classes.version}>
              {name} {template?.[field]}
            </span>
          ))}
        </Fact>
      )}
    </>
  );
}

function Commit({ environment }: { readonly environment: EnvironmentReply }) {
  const git = environment.latestDeploymentLog?.gitMetadata;
  if (!git?.commit) return null;
  return (
    <Fact name="Commit">
      <Copied text={git.commit} label="the commit" shown={git.commit.slice(0, 12)} />
      <span className={classes.faint}>
        {' '}
        {git.branch} <TimeAgo at={git.timestamp} />
      </span>
    </Fact>
  );
}

/** Automatic events, and their times. */
function Next({ environment }: { readonly environment: EnvironmentReply }) {
  const { nextScheduledDates: next, lifespanEndAt } = environment;
  return (
    <>
      {next.deploy && (
        <Fact name="Next deploy">
          <TimeAgo at={next.deploy} />
        </Fact>
      )}
      {next.destroy && (
        <Fact name="Next destroy">
          <TimeAgo at={next.destroy} />
        </Fact>
      )}
      <Fact name="Lifetime">
        {lifespanEndAt ? (
          <>
            ends <TimeAgo at={lifespanEndAt} />
          </>
        ) : (
          'unlimited'
        )}
      </Fact>
    </>
  );
}

export function MadeOf({ environment }: EnvironmentProps) {
  const { id, workspaceName, user, createdAt, isRemoteBackend, k8sNamespace } = environment;
  return (
    <section className={classes.section} aria-label="Made of">
      <div className={classes.head}>
        <h2>Made of</h2>
      </div>
      <dl className={classes.facts}>
        <Code environment={environment} />
        <Commit environment={environment} />
        <Next environment={environment} />
        <Fact name="Workspace">
          <code>{workspaceName}</code>
        </Fact>
        {k8sNamespace ? (
          <Fact name="Namespace">
            <code>{k8sNamespace}</code>
          </Fact>
        ) : null}
        <Fact name="State">
          {isRemoteBackend ? 'in the service' : 'in the backend of the code, else in the service'}
        </Fact>
        <Fact name="Created">
          <bdi>{user?.name}</bdi> {createdAt && <TimeAgo at={createdAt} />}
        </Fact>
        <Fact name="Id">
          <Copied text={id} label="the id" />
        </Fact>
      </dl>
    </section>
  );
}

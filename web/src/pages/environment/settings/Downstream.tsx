/** The environments that are deployed after each successful deploy of this one. */
import { Button, Group, Select } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { DownstreamEnvironment } from '#contract/triggers/shapes.ts';
import { useChange, usePage, useRead } from '../../../api/queries.ts';
import { FormAlert } from '../../../forms/FormAlert.tsx';
import { Section, Wide } from '../../../forms/Section.tsx';
import { ActionButton } from '../../../ui/ActionButton.tsx';
import { Loaded } from '../../../ui/Loaded.tsx';
import { TimeAgo } from '../../../ui/Time.tsx';
import classes from '../environment.module.css';
import type { EnvironmentProps } from '../reads.ts';

const refreshes = ['listDownstream'] as const;

/** Environments of the project are found by what is typed: there may be many. */
function Add({ environment, rights, known }: EnvironmentProps & { readonly known: readonly string[] }) {
  const { id, projectId } = environment;
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState<string | null>(null);
  const { data } = usePage('listEnvironments', {
    query: {
      projectId,
      isActive: true,
      limit: 50,
      sort: 'name',
      excludeFields: 'latestDeploymentLog',
      ...(text === '' ? {} : { searchText: text }),
    },
  });
  const add = useChange('addDownstream', {
    refreshes,
    onSuccess: () => setChosen(null),
    onError: () => true,
  });
  const whyNot = rights.whyNot('EDIT_ENVIRONMENT_SETTINGS');
  const choices = (data?.rows ?? []).filter((each) => each.id !== id && !known.includes(each.id));
  return (
    <>
      <Group gap="xs" align="end">
        <Select
          size="xs"
          label="Deploy after it"
          placeholder="Type a part of the name"
          searchable
          clearable
          disabled={whyNot !== undefined}
          data={choices.map((each) => ({ value: each.id, label: each.name }))}
          value={chosen}
          onChange={setChosen}
          onSearchChange={setText}
          nothingFoundMessage="No such environment in this project"
        />
        <ActionButton
          size="xs"
          variant="default"
          loading={add.isPending}
          whyNot={whyNot ?? (chosen === null ? 'Choose an environment first.' : undefined)}
          onClick={() =>
            add.mutate({
              params: { id },
              body: { downstreamEnvironmentIds: chosen === null ? [] : [chosen] },
            })
          }
        >
          Add
        </ActionButton>
      </Group>
      <FormAlert error={add.error} />
    </>
  );
}

/** What came of the last successful deploy. */
function Last({ lastTrigger: last }: DownstreamEnvironment) {
  if (last === undefined) return null;
  const { at, deploymentId, reason } = last;
  if (deploymentId === undefined)
    return (
      <span className={classes.faint}>
        skipped <TimeAgo at={at} />: <bdi>{reason}</bdi>
      </span>
    );
  return (
    <Link className={classes.faint} to="/deployments/$deploymentId" params={{ deploymentId }}>
      deployed <TimeAgo at={at} />
    </Link>
  );
}

function List({ environment, rights, rows }: EnvironmentProps & { readonly rows: DownstreamEnvironment[] }) {
  const remove = useChange('removeDownstream', { refreshes });
  if (rows.length === 0) return <p className={classes.faint}>Nothing is deployed after it.</p>;
  return (
    <ol className={classes.queue} aria-label="Deployed after it">
      {rows.map((row) => (
        <li key={row.id}>
          <span>
            <Link to="/environments/$environmentId" params={{ environmentId: row.id }}>
              <bdi>{row.name}</bdi>
            </Link>{' '}
            <Last {...row} />
          </span>
          {rights.has('EDIT_ENVIRONMENT_SETTINGS') && (
            <Button
              size="compact-xs"
              variant="subtle"
              color="red"
              aria-label={`Remove ${row.name}`}
              onClick={() =>
                remove.mutate({
                  params: { id: environment.id },
                  body: { downstreamEnvironmentIds: [row.id] },
                })
              }
            >
              Remove
            </Button>
          )}
        </li>
      ))}
    </ol>
  );
}

export function Downstream(props: EnvironmentProps) {
  const query = useRead('listDownstream', { params: { id: props.environment.id } });
  return (
    <Section
      title="What follows"
      hint="Environments of the same project that are deployed after each successful deploy of this one, if they are active. Their own rules of approval apply."
    >
      <Wide>
        <Loaded query={query} lines={2}>
          {(rows) => (
            <>
              <List {...props} rows={rows} />
              <Add {...props} known={rows.map(({ id }) => id)} />
            </>
          )}
        </Loaded>
      </Wide>
    </Section>
  );
}

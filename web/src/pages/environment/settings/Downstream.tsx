/** The environments that are deployed after each successful deploy of this one. */
import { Button, Group } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { DownstreamEnvironment } from '#contract/triggers/shapes.ts';
import { useChange, useRead } from '../../../api/queries.ts';
import { EnvironmentSelect } from '../../../forms/EnvironmentSelect.tsx';
import { FormAlert } from '../../../forms/FormAlert.tsx';
import { Section, Wide } from '../../../forms/Section.tsx';
import { ActionButton } from '../../../ui/ActionButton.tsx';
import { Loaded } from '../../../ui/Loaded.tsx';
import { TimeAgo } from '../../../ui/Time.tsx';
import classes from '../facts/environment.module.css';
import type { EnvironmentProps } from '../facts/reads.ts';

const refreshes = ['listDownstream'] as const;

function Add({ environment, rights, known }: EnvironmentProps & { readonly known: readonly string[] }) {
  const { id, projectId } = environment;
  const [chosen, setChosen] = useState<string | null>(null);
  const add = useChange('addDownstream', {
    refreshes,
    onSuccess: () => setChosen(null),
    onError: () => true,
  });
  const whyNot = rights.whyNot('EDIT_ENVIRONMENT_SETTINGS');
  return (
    <>
      <Group gap="xs" align="end">
        <EnvironmentSelect
          size="xs"
          label="Deploy after it"
          within={{ projectId }}
          isActive
          without={(each) => each === id || known.includes(each)}
          disabled={whyNot !== undefined}
          value={chosen}
          onChange={setChosen}
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

/** The result of the last successful deploy. */
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

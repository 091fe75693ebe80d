/** The configuration sets that an environment gets variables from, and where each is assigned. */
import { Button, Group, Select } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { ConfigurationSet } from '#contract/configuration-sets/shapes.ts';
import { useChange, useRead } from '../../../api/queries.ts';
import { ActionButton } from '../../../ui/ActionButton.tsx';
import classes from '../facts/environment.module.css';
import type { EnvironmentProps } from '../facts/reads.ts';
import { useAssignedSets } from './origins.tsx';

const refreshes = ['listSetAssignments', 'listVariables'] as const;

function place({ assignmentScope, assignmentScopeId }: ConfigurationSet, id: string): string {
  if (assignmentScopeId === id) return 'assigned here';
  return `from the ${assignmentScope ?? 'organization'}`;
}

/** Sets of the organization and of the projects around; those of other projects cannot be assigned. */
function AddSet({
  environment,
  rights,
  assigned,
}: EnvironmentProps & { readonly assigned: readonly string[] }) {
  const { id, organizationId, projectId } = environment;
  const [setId, setSetId] = useState<string | null>(null);
  const general = useRead('listConfigurationSets', { query: { organizationId } });
  const own = useRead('listConfigurationSets', { query: { projectId } });
  const assign = useChange('assignConfigurationSets', { refreshes, onSuccess: () => setSetId(null) });
  const choices = [...(general.data ?? []), ...(own.data ?? [])].filter((set) => !assigned.includes(set.id));
  if (choices.length === 0) return null;
  const whyNot = rights.whyNot('EDIT_ENVIRONMENT_SETTINGS');
  return (
    <Group gap="xs" mt="xs" align="end">
      <Select
        size="xs"
        label="Assign a set"
        searchable
        clearable
        disabled={whyNot !== undefined}
        data={choices.map((set) => ({ value: set.id, label: set.name }))}
        value={setId}
        onChange={setSetId}
      />
      <ActionButton
        size="xs"
        variant="default"
        loading={assign.isPending}
        whyNot={whyNot ?? (setId === null ? 'Choose a set first.' : undefined)}
        onClick={() =>
          assign.mutate({ params: { scope: 'environment', scopeId: id }, query: { setIds: setId ?? '' } })
        }
      >
        Assign
      </ActionButton>
    </Group>
  );
}

export function AssignedSets(props: EnvironmentProps) {
  const { environment, rights } = props;
  const { id } = environment;
  const { data: sets = [] } = useAssignedSets(environment);
  const unassign = useChange('unassignConfigurationSets', { refreshes });
  const mayEdit = rights.has('EDIT_ENVIRONMENT_SETTINGS');
  return (
    <section className={classes.below} aria-label="Configuration sets">
      <h2>Configuration sets</h2>
      {sets.length === 0 ? (
        <p className={classes.faint}>None is assigned to this environment or around it.</p>
      ) : (
        <ol className={classes.queue}>
          {sets.map((set) => (
            <li key={`${set.assignmentScopeId} ${set.id}`}>
              <Link to="/configuration-sets/$setId" params={{ setId: set.id }}>
                <bdi>{set.name}</bdi>
              </Link>{' '}
              <span className={classes.faint}>{place(set, id)}</span>
              {set.assignmentScopeId === id && mayEdit && (
                <Button
                  size="compact-xs"
                  variant="subtle"
                  color="red"
                  aria-label={`Unassign ${set.name}`}
                  onClick={() =>
                    unassign.mutate({
                      params: { scope: 'environment', scopeId: id },
                      query: { setIds: set.id },
                    })
                  }
                >
                  Unassign
                </Button>
              )}
            </li>
          ))}
        </ol>
      )}
      <AddSet {...props} assigned={sets.filter((set) => set.assignmentScopeId === id).map((set) => set.id)} />
    </section>
  );
}

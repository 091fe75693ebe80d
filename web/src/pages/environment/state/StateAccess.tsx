/** Readers of the state over HTTP, in addition to those with the right to read states. */
import { Switch } from '@mantine/core';
import { showDone } from '../../../api/messages.ts';
import { useChange, useRead } from '../../../api/queries.ts';
import { Loaded } from '../../../ui/Loaded.tsx';
import classes from '../facts/environment.module.css';
import type { EnvironmentProps } from '../facts/reads.ts';

export function StateAccess({ environment, rights }: EnvironmentProps) {
  const { id: environmentId } = environment;
  const query = useRead('getStateAccess', { params: { environmentId } });
  const save = useChange('setStateAccess', {
    refreshes: ['getStateAccess'],
    onSuccess: ({ accessibleFromEntireOrganization: isOpen }) =>
      showDone(
        isOpen ? 'Everyone in the organization may read the state' : 'Only people with the right may read it',
      ),
  });
  const whyNot = rights.whyNot('EDIT_ENVIRONMENT_SETTINGS');
  return (
    <section className={classes.section} aria-label="Access to the state">
      <h2>Access</h2>
      <Loaded query={query} lines={1}>
        {({ accessibleFromEntireOrganization: isOpen }) => (
          <Switch
            label="All members of the organization may read the state over HTTP"
            description={
              whyNot ?? 'It contains secrets in plain text. Writing it always needs the right WRITE_STATE.'
            }
            checked={isOpen}
            disabled={whyNot !== undefined || save.isPending}
            onChange={({ currentTarget }) =>
              save.mutate({
                params: { environmentId },
                body: { accessibleFromEntireOrganization: currentTarget.checked },
              })
            }
          />
        )}
      </Loaded>
    </section>
  );
}

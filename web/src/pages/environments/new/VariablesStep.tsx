/** The third step: the variables that the code declares and the scopes give. */
import { Alert, Button, MultiSelect, Skeleton } from '@mantine/core';
import { errorText, isStatus } from '../../../api/errors.ts';
import { useRead } from '../../../api/queries.ts';
import { useSession } from '../../../api/session.ts';
import { Section, Wide } from '../../../forms/Section.tsx';
import { VariablesEditor } from '../../../forms/variables/VariablesEditor.tsx';
import { useOriginNames } from '../../variables/use-origin-names.tsx';
import classes from './new.module.css';
import type { NewEnvironmentForm } from './use-new-environment.ts';

/** Message about the definitions, if they are not available. */
function DefinitionsState({ canRead, code, definitions }: NewEnvironmentForm) {
  if (!canRead)
    return (
      <p className={classes.note}>
        {code?.isHelmRepository
          ? 'Values of charts from a chart repository cannot be read: add those that you want to set.'
          : 'The code of this tool declares no variables: add those that you want to set.'}
      </p>
    );
  if (definitions.isError)
    return (
      <Alert
        color="yellow"
        role="status"
        title={
          isStatus(definitions.error, 403)
            ? 'You may not read this repository here'
            : 'The variables of the code cannot be read'
        }
      >
        <p className={classes.plain}>{errorText(definitions.error).text}</p>
        <p className={classes.plain}>
          You can continue: add the variables by hand. Whether the code can be read from the agents shows in
          the run.
        </p>
        <Button size="xs" variant="default" mt="xs" onClick={() => void definitions.refetch()}>
          Read it again
        </Button>
      </Alert>
    );
  if (definitions.data?.length === 0)
    return <p className={classes.note}>The code declares no variables. You can add some all the same.</p>;
  return null;
}

function SetsField({ draft, set, errors }: NewEnvironmentForm) {
  const { organizationId } = useSession();
  const own = useRead('listConfigurationSets', { query: { organizationId } });
  const ofProject = useRead(
    'listConfigurationSets',
    { query: { projectId: draft.projectId } },
    { enabled: draft.projectId !== '' },
  );
  const sets = [...(own.data ?? []), ...(ofProject.data ?? [])];
  const data = [...new Map(sets.map(({ id, name }) => [id, { value: id, label: name }])).values()];
  if (data.length === 0 && draft.setIds.length === 0) return null;
  return (
    <Section
      title="Configuration sets"
      hint="Assigned to this environment; its own variables take precedence."
    >
      <Wide>
        <MultiSelect
          label="Sets"
          data={data}
          value={[...draft.setIds]}
          onChange={(setIds) => set({ setIds })}
          searchable
          clearable
          error={errors.setIds}
        />
      </Wide>
    </Section>
  );
}

export function VariablesStep(state: NewEnvironmentForm) {
  const { definitions, inherited, canRead, rows, rowErrors, isStrict, setRows } = state;
  const originOf = useOriginNames();
  const isReading = (canRead && definitions.isPending) || inherited.isPending;
  return (
    <>
      <section aria-label="Variables">
        <h2 className={classes.head}>Variables</h2>
        <p className={classes.lead}>
          Each has the value that its code or an outer scope gives until you change it here, for this
          environment only.
        </p>
        <DefinitionsState {...state} />
        {inherited.isError && (
          <Alert color="yellow" role="status" title="The variables of the scopes cannot be read">
            {errorText(inherited.error).text}
          </Alert>
        )}
        {isReading ? (
          <div role="status" aria-label="Reading the variables of the code">
            {[1, 2, 3].map((at) => (
              <Skeleton key={at} height={34} mt={10} />
            ))}
          </div>
        ) : (
          <VariablesEditor
            label="Variables"
            rows={rows}
            onChange={setRows}
            errors={rowErrors}
            isStrict={isStrict}
            showsOrigin
            originOf={originOf}
          />
        )}
      </section>
      <SetsField {...state} />
    </>
  );
}

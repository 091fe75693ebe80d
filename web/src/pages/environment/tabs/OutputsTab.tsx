/** Outputs of an environment for its users and other environments. */
import { Button, CopyButton, Group } from '@mantine/core';
import { useState } from 'react';
import type { OutputValue } from '#contract/deployments/plan.ts';
import { outputsByName } from '#contract/deployments/unit-outputs.ts';
import { parseExactly } from '#contract/schema/exact-json.ts';
import { client } from '../../../api/client.ts';
import { errorText } from '../../../api/errors.ts';
import { showError } from '../../../api/messages.ts';
import { ActionButton } from '../../../ui/ActionButton.tsx';
import { callOf } from '../../../ui/calls.ts';
import { EmptyState } from '../../../ui/EmptyState.tsx';
import { Loaded } from '../../../ui/Loaded.tsx';
import { SearchBox } from '../../../ui/SearchBox.tsx';
import { useSearchState } from '../../../ui/search.ts';
import { TimeAgo } from '../../../ui/Time.tsx';
import classes from '../facts/environment.module.css';
import { useLastSuccess } from '../facts/last-change.ts';
import { groupOutputs, type StateContent, stateOutput, valueText } from '../facts/outputs.ts';
import type { EnvironmentProps } from '../facts/reads.ts';

function Copy({ text, label, children }: { text: string; label: string; children: string }) {
  return (
    <CopyButton value={text}>
      {({ copied, copy }) => (
        <Button size="compact-xs" variant="subtle" onClick={copy} aria-label={label}>
          {copied ? 'Copied' : children}
        </Button>
      )}
    </CopyButton>
  );
}

interface OutputProps extends EnvironmentProps {
  /** `<unit>.<name>`, or the name alone. */
  readonly whole: string;
  readonly name: string;
  readonly output: OutputValue;
  readonly stateVersionId: string | undefined;
}

/** A sensitive value is in the state only: reading it needs a right, and is audited. */
function useReveal(whole: string, stateVersionId: string | undefined) {
  const [shown, setShown] = useState<string>();
  const [isBusy, setIsBusy] = useState(false);
  const reveal = async () => {
    setIsBusy(true);
    try {
      const bytes = await client.bytes('getStateContent', { params: { id: stateVersionId ?? '' } });
      const found = stateOutput(parseExactly(new TextDecoder().decode(bytes)) as StateContent, whole);
      if (found === undefined)
        throw new Error('The state has no readable value: the tool may have encrypted it.');
      setShown(valueText(found.value));
    } catch (error) {
      showError(errorText(error));
    }
    setIsBusy(false);
  };
  return { shown, isBusy, reveal: () => void reveal(), hide: () => setShown(undefined) };
}

function Sealed({ whole, rights, stateVersionId }: OutputProps) {
  const { shown, isBusy, reveal, hide } = useReveal(whole, stateVersionId);
  const whyNot =
    rights.whyNot('READ_STATE') ??
    (stateVersionId === undefined ? 'The service does not keep the state of this environment.' : undefined);
  if (shown !== undefined)
    return (
      <>
        <pre className={classes.value}>{shown}</pre>
        <Button size="compact-xs" variant="subtle" onClick={hide}>
          Hide
        </Button>
        <Copy text={shown} label={`Copy the value of ${whole}`}>
          Copy
        </Copy>
      </>
    );
  return (
    <Group gap="xs">
      <span className={classes.sealed}>sealed</span>
      <ActionButton size="compact-xs" variant="subtle" whyNot={whyNot} loading={isBusy} onClick={reveal}>
        Reveal
      </ActionButton>
      <span className={classes.faint}>The audit log will say that you have read the state.</span>
    </Group>
  );
}

function Output(props: OutputProps) {
  const { environment, whole, name, output } = props;
  const text = valueText(output.value);
  return (
    <li className={classes.output}>
      <div className={classes.head}>
        <code className={classes.outputName}>
          <bdi>{name}</bdi>
        </code>
        <span>
          {!output.sensitive && (
            <Copy text={text} label={`Copy the value of ${whole}`}>
              Copy
            </Copy>
          )}
          <Copy text={`\${envarium:${environment.id}:${whole}}`} label={`Copy reference to ${whole}`}>
            Copy reference
          </Copy>
        </span>
      </div>
      {output.sensitive ? <Sealed {...props} /> : <pre className={classes.value}>{text}</pre>}
    </li>
  );
}

function References({ environment }: EnvironmentProps) {
  return (
    <p className={classes.hint}>
      A variable of another environment takes the value of an output by its reference,{' '}
      <code>{`\${envarium:${environment.id}:name}`}</code>, with the format “Output of another environment”.
      It is read before each run. The policy of the project decides whether that is allowed.
    </p>
  );
}

export default function OutputsTab(props: EnvironmentProps) {
  const { environment } = props;
  const [{ find = '' }, setSearch] = useSearchState();
  const query = useLastSuccess(environment.id);
  return (
    <Loaded query={query}>
      {({ rows: [last] }) => {
        const output = last?.type === 'deploy' ? (last.output ?? null) : null;
        const outputs = outputsByName(output);
        const groups = groupOutputs(outputs, find, Array.isArray(output));
        if (Object.keys(outputs).length === 0)
          return <NoOutputs {...props} isDestroyed={last?.type === 'destroy'} />;
        return (
          <>
            <References {...props} />
            {Object.keys(outputs).length > 8 && (
              <SearchBox label="Find an output" value={find} onSearch={(text) => setSearch({ find: text })} />
            )}
            {last?.finishedAt && (
              <p className={classes.faint}>
                As of <TimeAgo at={last.finishedAt} />
              </p>
            )}
            {groups.map(({ unit, all }) => (
              <section key={unit} className={classes.section} aria-label={unit || 'Outputs'}>
                {unit !== '' && <h2>{unit}</h2>}
                <ul className={classes.outputs}>
                  {all.map(([whole, name, output]) => (
                    <Output
                      key={whole}
                      {...props}
                      {...{ whole, name, output }}
                      stateVersionId={last?.stateVersionId}
                    />
                  ))}
                </ul>
              </section>
            ))}
          </>
        );
      }}
    </Loaded>
  );
}

function NoOutputs({ environment, isDestroyed }: EnvironmentProps & { readonly isDestroyed: boolean }) {
  const { id } = environment;
  return (
    <EmptyState
      title={isDestroyed ? 'It is destroyed, and its outputs with it' : 'No outputs yet'}
      call={callOf('Deploy it', 'deployEnvironment', { params: { id }, body: {} }, [
        'deploy',
        id,
        '--follow',
      ])}
    >
      Outputs come from the code: an <code>output</code> block of terraform, an export of Pulumi, and so on.
      They appear here after the first successful deployment.
    </EmptyState>
  );
}

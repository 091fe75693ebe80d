/** Failure: the command, its message, the step with its log, and resources that no state has. */
import { Anchor } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { UnrecordedResource } from '#contract/deployments/plan.ts';
import type { Step } from '#contract/deployments/shapes.ts';
import { CommandLine } from '../../../ui/CommandLine.tsx';
import { asCommand } from '../../../ui/calls.ts';
import type { DeploymentReply } from '../facts/reads.ts';
import { failedStep } from '../facts/sentence.ts';
import classes from './parts.module.css';
import { stepName } from './steps.ts';

interface UnrecordedProps {
  readonly resources: readonly UnrecordedResource[];
  readonly environmentId: string;
}

/** Resources that a tool made before it died, and that no state has. */
function Unrecorded({ resources, environmentId }: UnrecordedProps) {
  if (resources.length === 0) return null;
  return (
    <>
      <h3>Created, but not recorded in the state</h3>
      <p>
        The tool ended before it could record these. A new deployment can import those that were certainly
        created and have an id. Look for the others in the cloud, and delete or import them there.
      </p>
      <ul className={classes.unrecorded}>
        {resources.map(({ address, id, certainty }, at) => (
          <li key={`${address} ${at}`}>
            <bdi className="mono">{address}</bdi> · {certainty}
            {id !== undefined && (
              <>
                {' · '}
                <bdi className="mono">{id}</bdi>
              </>
            )}
          </li>
        ))}
      </ul>
      <CommandLine label="Import them" text={asCommand('deploy', environmentId, '--import-unrecorded')} />
    </>
  );
}

export interface FailureProps {
  readonly deployment: DeploymentReply;
  readonly steps: readonly Step[];
}

export function Failure({ deployment, steps }: FailureProps) {
  const { error, failedCommand, unrecordedResources = [] } = deployment;
  const step = failedStep(steps);
  const isPlainAbort = deployment.status === 'ABORTED' && failedCommand === undefined;
  if ((!error?.message || isPlainAbort) && unrecordedResources.length === 0) return null;
  return (
    <section className={classes.failure} aria-labelledby="failure">
      <h2 id="failure">{failedCommand ? <bdi className="mono">{failedCommand}</bdi> : 'Error'}</h2>
      {error?.message && (
        <pre tabIndex={0} aria-label="Its output">
          {error.message}
        </pre>
      )}
      <p>
        {error?.exitCode !== undefined && error.exitCode !== null && `Exit code ${error.exitCode}. `}
        {step && (
          <Anchor
            component={Link}
            to="."
            search={{ tab: 'log', step: step.name } as never}
            resetScroll={false}
          >
            Log of {stepName(step)}
          </Anchor>
        )}
      </p>
      <Unrecorded resources={unrecordedResources} environmentId={deployment.environmentId} />
    </section>
  );
}

/** Resources that a tool made before it died, and that no state has. */
import type { UnrecordedResource } from '#contract/deployments/plan.ts';
import { CommandLine } from '../../../ui/CommandLine.tsx';
import { asCommand } from '../../../ui/calls.ts';
import classes from './parts.module.css';

export interface UnrecordedProps {
  readonly resources: readonly UnrecordedResource[];
  readonly environmentId: string;
}

export function Unrecorded({ resources, environmentId }: UnrecordedProps) {
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

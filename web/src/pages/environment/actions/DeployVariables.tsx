/** The variables of a deployment, folded until one is to be changed. */
import { Button, Skeleton } from '@mantine/core';
import { useState } from 'react';
import type { VariableFormRow } from '../../../forms/variables/rows.ts';
import { VariablesEditor } from '../../../forms/variables/VariablesEditor.tsx';
import classes from '../facts/environment.module.css';
import type { DeployKind } from './deploy-body.ts';

export interface DeployVariablesProps {
  readonly rows: readonly VariableFormRow[];
  readonly setRows: (rows: readonly VariableFormRow[]) => void;
  readonly isRead: boolean;
  readonly changed: number;
  readonly errors: Readonly<Record<string, string>>;
  readonly isStrict: boolean;
  readonly kind: DeployKind;
}

export function DeployVariables({
  rows,
  setRows,
  isRead,
  changed,
  errors,
  isStrict,
  kind,
}: DeployVariablesProps) {
  const [isOpen, setIsOpen] = useState(false);
  const count = changed === 0 ? `${rows.length}` : `${changed} changed`;
  return (
    <section aria-label="Variables">
      <Button variant="default" size="xs" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
        Variables ({isRead ? count : '…'})
      </Button>
      {isOpen && (
        <>
          <p className={classes.hint}>
            {kind === 'dryRun'
              ? 'Changes hold for this plan only.'
              : 'Changes are stored in the environment; without the right to apply, when the plan is approved.'}
          </p>
          {isRead ? (
            <VariablesEditor
              label="Variables of the deployment"
              rows={rows}
              onChange={setRows}
              errors={errors}
              isStrict={isStrict}
              showsOrigin
            />
          ) : (
            <Skeleton height={40} />
          )}
        </>
      )}
    </section>
  );
}

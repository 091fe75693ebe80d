/** Shown only after a refusal: another lineage is most often a mistake. */
import { Checkbox } from '@mantine/core';
import { isStatus } from '../../../api/errors.ts';

export interface AcceptLineageProps {
  /** The refusal so far. */
  readonly error: unknown;
  readonly isAccepted: boolean;
  readonly onChange: (isAccepted: boolean) => void;
}

export function AcceptLineage({ error, isAccepted, onChange }: AcceptLineageProps) {
  if (!isAccepted && !isStatus(error, 400, 409)) return null;
  return (
    <Checkbox
      label="Accept another lineage than that of the current state"
      checked={isAccepted}
      onChange={({ currentTarget }) => onChange(currentTarget.checked)}
    />
  );
}

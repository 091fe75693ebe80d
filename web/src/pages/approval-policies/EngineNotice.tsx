/** Says, where people work on policies, that the service cannot evaluate any. */
import { Alert } from '@mantine/core';
import { useRead } from '../../api/queries.ts';

export function EngineNotice() {
  const { data: engine } = useRead('getPolicyEngine');
  if (engine?.problem === undefined) return null;
  return (
    <Alert color="yellow" role="status" mb="md">
      <strong>Policies cannot be evaluated.</strong> {engine.problem}. Until then, deployments that a policy
      is to check fail.
    </Alert>
  );
}

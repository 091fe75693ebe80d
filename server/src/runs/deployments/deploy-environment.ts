/** Makes the deployments that people request: what the body says is checked first, then started or refused. */
import { type DeployBody, normalizeDeployRequest } from '#contract/deployments/deploy-request.ts';
import type { Deployment } from '#contract/deployments/shapes.ts';
import type { DeploymentType } from '#contract/schema/enumerations.ts';
import { requireEnvironment } from '../../framework/access/lock-or-refuse.ts';
import type { ActorContext } from '../../framework/context.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { loadStartFacts, type StoredFacts } from './inputs/start-facts.ts';
import {
  type CheckedRequest,
  type DestroyRequest,
  readDeployRequest,
  readDestroyRequest,
} from './requests/read-deploy-request.ts';
import { startDeployment } from './start-deployment.ts';
import { startedView } from './views/deployment-view.ts';

/** @param read checks the request against the facts */
async function start(
  context: ActorContext,
  environmentId: string,
  type: DeploymentType,
  read: (context: ActorContext, facts: StoredFacts) => Promise<CheckedRequest>,
): Promise<Deployment & { id: string }> {
  return inTransaction(context, async (context) => {
    const environment = await requireEnvironment(context, environmentId);
    const facts = await loadStartFacts(context, environment, type);
    const { run, changes } = await read(context, facts);
    return startedView(await startDeployment(context, facts, run, changes), facts.users);
  });
}

/** @throws Refusal before anything is written */
export async function deployEnvironment(
  context: ActorContext,
  environmentId: string,
  body: DeployBody,
): Promise<Deployment & { id: string }> {
  const request = normalizeDeployRequest(body);
  return start(context, environmentId, request.deploymentType, (context, facts) =>
    readDeployRequest(context, facts, body, request),
  );
}

/** @throws Refusal before anything is written */
export async function destroyEnvironment(
  context: ActorContext,
  environmentId: string,
  request: DestroyRequest,
): Promise<Deployment & { id: string }> {
  return start(context, environmentId, 'destroy', (context, facts) =>
    readDestroyRequest(context, facts, request),
  );
}

/** A plan as a document in the form of terraform, as text: its numbers keep every digit. */
import type { ActorContext } from '../../context.ts';
import { commonPolicyPlan } from '#protocol/policy-plan.ts';
import { getPlannedBlob } from '../../dispatch/blobs/attempt-blob-store.ts';
import { Refusal } from '../../http/errors.ts';
import { JsonText } from '../../http/json-text.ts';
import { plannedInput, policyInputName } from '../policy-check/policy-input.ts';
import { getStoredPlan } from '../shown-deployment-store.ts';

async function documentOf(context: ActorContext, id: string): Promise<unknown> {
  if (await getPlannedBlob(context.db, id, policyInputName)) return (await plannedInput(context, id)).plan;
  const plan = await getStoredPlan(context.db, id);
  return plan && commonPolicyPlan(plan);
}

/** @throws Refusal 404 for a deployment of which no plan is stored */
export async function planJson(
  context: ActorContext,
  id: string,
  { redirect = true }: { readonly redirect?: boolean },
): Promise<JsonText<Record<string, unknown>>> {
  const document = await documentOf(context, id);
  if (document === undefined)
    throw new Refusal('not_found', `No plan is stored of the deployment with id "${id}"`);
  const url = `${context.settings.baseUrl ?? ''}/api/environments/deployments/${id}/plan-json`;
  return new JsonText(JSON.stringify(redirect ? document : { url }));
}

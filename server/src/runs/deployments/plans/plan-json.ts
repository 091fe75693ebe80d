/** A plan as a document in the form of terraform, as text: its numbers keep every digit. */
import type { ActorContext } from '../../../framework/context.ts';
import { JsonText } from '../../../framework/http/replies/json-text.ts';
import { Refusal } from '../../../ground/errors.ts';
import { shownInput } from '../policy-check/policy-input.ts';

/** @throws Refusal 404 for a deployment of which no plan is stored */
export async function planJson(
  context: ActorContext,
  id: string,
  { redirect = true }: { readonly redirect?: boolean },
): Promise<JsonText<Record<string, unknown>>> {
  const shown = await shownInput(context, id);
  if (shown === undefined)
    throw new Refusal('not_found', `No plan is stored of the deployment with id "${id}"`);
  const url = `${context.settings.baseUrl ?? ''}/api/environments/deployments/${id}/plan-json`;
  return new JsonText(JSON.stringify(redirect ? shown.plan : { url }));
}

/** `validate`: the template is read by AWS, and what it needs is there. */
import type { Api } from './api/api.ts';
import { tell } from './api/tell.ts';
import { parametersFor } from './parameters.ts';
import { checkCapabilities, placeTemplate, summaryOf } from './template.ts';
import { Uploads } from './uploads.ts';

export async function validate(api: Api): Promise<undefined> {
  await using uploads = new Uploads(api);
  const template = await placeTemplate(api, uploads, 'check');
  const summary = await summaryOf(api, template);
  const { unknown } = parametersFor(api, summary);
  checkCapabilities(summary, api);
  const types = new Set(summary.ResourceTypes ?? []);
  tell(
    `${template.file} is a valid template with ${summary.Parameters?.length ?? 0} parameters and ${types.size} types of resources.`,
  );
  if (unknown.length > 0)
    tell(
      `Warning: the template has no parameters named ${unknown.join(', ')}: these variables are left out.`,
    );
  return undefined;
}

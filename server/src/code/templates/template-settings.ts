/** The settings of a template as they are stored: only those that were sent. */
import { templateSettingNames } from '#contract/templates/setting-names.ts';
import type { TemplateRequest } from '#contract/templates/template-body.ts';
import type { TemplateSettings } from '../../rows/templates/columns.ts';

/** The last one is a setting of approval policies only. */
const names = [...templateSettingNames, 'policyConfiguration'] as const;

/** The settings of a request. */
export type SentSettings = Pick<TemplateRequest, (typeof names)[number]>;

/** Clients compare what they read with what they sent, so nothing is filled in. */
export function templateSettings(request: SentSettings): TemplateSettings {
  return Object.fromEntries(
    names.filter((name) => request[name] !== undefined).map((name) => [name, request[name]]),
  );
}

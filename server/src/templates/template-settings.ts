/** The settings of a template as they are stored: only those that were sent. */
import { templateSettingNames } from '#contract/templates/setting-names.ts';
import type { TemplateRequest } from '#contract/templates/template-body.ts';
import type { TemplateSettings } from '../database/stored.ts';

/** The settings of a request. */
export type SentSettings = Pick<TemplateRequest, (typeof templateSettingNames)[number]>;

/** Clients compare what they read with what they sent, so nothing is filled in. */
export function templateSettings(request: SentSettings): TemplateSettings {
  return Object.fromEntries(
    templateSettingNames.filter((name) => request[name] !== undefined).map((name) => [name, request[name]]),
  );
}

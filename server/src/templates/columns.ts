/** What columns hold that are text, numbers or JSON to the database. */
import type { TemplateType } from '#contract/schema/enumerations.ts';
import type { TemplateSettings } from '../database/stored.ts';

export interface Columns {
  'template.settings': TemplateSettings;
  'template.type': TemplateType;
}

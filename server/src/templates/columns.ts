/** What columns hold that are text, numbers or JSON to the database. */
import type { StoredTemplateType } from '#contract/schema/enumerations.ts';
import type { TemplateSettings } from '../database/stored.ts';

export interface Columns {
  'template.settings': TemplateSettings;
  'template.type': StoredTemplateType;
}

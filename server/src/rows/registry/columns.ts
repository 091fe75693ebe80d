/** Types of columns that are text, numbers or JSON to the database. */
import type { ModuleSettings } from './module-settings.ts';

export interface Columns {
  'registry_module.settings': ModuleSettings;
}

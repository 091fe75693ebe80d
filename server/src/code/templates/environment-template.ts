/** A template as one environment uses it. Pure. */
import { type TemplateType, templateTypes } from '#contract/schema/enumerations.ts';
import type { EnvironmentRow } from '../../rows/environments/environment-store.ts';
import type { TemplateRow } from '../../rows/templates/template-store.ts';

/** Fields of the template that an environment replaces. */
type Overrides = Pick<EnvironmentRow, 'template_revision' | 'template_repository'>;

/** The template with what the environment replaces of it. */
export function environmentTemplate(
  { template_revision: revision, template_repository: repository }: Overrides,
  template: TemplateRow,
): TemplateRow {
  return {
    ...template,
    repository: repository ?? template.repository,
    settings: revision === null ? template.settings : { ...template.settings, revision },
  };
}

/** The tool that a template is for; null for what environments are not created from. */
export function toolOf({ type }: Pick<TemplateRow, 'type'>): TemplateType | null {
  return templateTypes.find((tool) => tool === type) ?? null;
}

/** Code that a deployment runs, as its row keeps it. @param template as the environment uses it */
export function templateColumns(template: TemplateRow) {
  const tool = toolOf(template);
  if (tool === null) throw new Error(`Template ${template.id} of type ${template.type} has no tool`);
  return {
    template_id: template.id,
    template_name: template.name,
    repository: template.repository,
    revision: template.settings.revision ?? '',
    path: template.settings.path ?? '',
    tool,
  };
}

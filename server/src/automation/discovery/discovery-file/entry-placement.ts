/** Finds the project and the template of an entry. Pure. */
import type { TemplateRow } from '../../../rows/templates/template-store.ts';
import { deployGlobFor } from '../matching/deploy-glob.ts';
import { discoveryFileName, type FileEnvironment } from './discovery-file.ts';
import { type EntryContent, type EntrySettings, entrySettingNames } from './entry-content.ts';
import type { FileVariable } from './parse-variable-files.ts';

/** Values of the variable files of an entry. */
export interface EntryVariables {
  readonly variables: readonly FileVariable[];
  /** Reason why the files cannot be used; null if they can. */
  readonly problem: string | null;
}

/** A project in which discovery files may create environments. */
export interface TargetProject {
  readonly id: string;
  /** From the outermost project. */
  readonly path: readonly string[];
  readonly isArchived: boolean;
  /** Name of a project closer to it whose own discovery is in charge of this repository. */
  readonly inCharge?: string | undefined;
}

/** Everything that the place of an entry depends on. */
export interface EntryFacts {
  /** Of the project of the configuration, for messages. */
  readonly projectName: string;
  readonly targets: readonly TargetProject[];
  /** Shared templates of the organization. */
  readonly templates: readonly TemplateRow[];
  isAssigned(template: TemplateRow, projectId: string): boolean;
}

/** An entry that can become an environment, or why it cannot. */
export type PlacedEntry =
  | { readonly projectId: string; readonly content: EntryContent }
  | { readonly reason: string };

const types = ['opentofu', 'terraform'];

function targetOf({ projectId, projectNames = [] }: FileEnvironment, { targets, projectName }: EntryFacts) {
  const found = targets.find(({ id, path }) =>
    projectId === undefined
      ? JSON.stringify(path) === JSON.stringify(projectNames)
      : id === projectId.toLowerCase(),
  );
  const shown = projectId === undefined ? `projectName ${projectNames.join('|')}` : `projectId ${projectId}`;
  if (!found) return `${shown} must name the project "${projectName}" or one below it`;
  if (found.isArchived) return `${shown} names an archived project: restore it`;
  return found.inCharge === undefined
    ? found
    : `${shown}: the discovery of the project "${found.inCharge}", which is closer, is in charge of it`;
}

function templateOf({ templateId, templateName }: FileEnvironment, projectId: string, facts: EntryFacts) {
  const found = facts.templates.find(({ id, name }) =>
    templateId === undefined ? name === templateName : id === templateId.toLowerCase(),
  );
  const shown = templateId === undefined ? `templateName ${templateName}` : `templateId ${templateId}`;
  if (!found || !facts.isAssigned(found, projectId))
    return `${shown} must name a template that is assigned to the project of the environment`;
  return types.includes(found.type)
    ? found
    : `${shown} must name a template of type terraform or opentofu: this one is of type ${found.type}`;
}

function settingsOf(environment: FileEnvironment, folder: string): EntrySettings {
  const sent = entrySettingNames.filter((name) => environment[name] !== undefined);
  const { autoDeployByCustomGlob: glob } = environment;
  return {
    ...Object.fromEntries(sent.map((name) => [name, environment[name]])),
    ...(glob === undefined ? {} : { autoDeployByCustomGlob: deployGlobFor(glob, folder) }),
  };
}

/** The place of a message, as people look for it. */
export function atLine(line: number, message: string): string {
  return `${discoveryFileName}, line ${line}: ${message}`;
}

/** @param read undefined for an entry without variable files */
export function placeEntry(
  environment: FileEnvironment,
  read: EntryVariables | undefined,
  facts: EntryFacts,
): PlacedEntry {
  const { key, line, revision, workspaceName, driftDetectionCron } = environment;
  const refused = (problem: string) => ({ reason: atLine(line, `${key}: ${problem}`) });
  const target = targetOf(environment, facts);
  if (typeof target === 'string') return refused(target);
  const template = templateOf(environment, target.id, facts);
  if (typeof template === 'string') return refused(template);
  if (read && read.problem !== null) return refused(read.problem);
  const content: EntryContent = {
    templateId: template.id,
    ...(revision === undefined ? {} : { revision }),
    ...(workspaceName === undefined ? {} : { workspaceName }),
    ...(driftDetectionCron === undefined ? {} : { driftDetectionCron }),
    settings: settingsOf(environment, template.settings.path ?? ''),
    variables: read?.variables ?? [],
  };
  return { projectId: target.id, content };
}

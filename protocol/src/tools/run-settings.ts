/** Settings of template and environment for runs of a tool, apart from code and the tool's version. Pure. */
import type { TemplateType, terragruntTfBinaries } from '#contract/schema/enumerations.ts';
import type { Job } from '../messages/job.ts';

/** As a deployment keeps them: what its template and environment contained when it was requested. */
export interface RunSettings extends NonNullable<Job['settings']> {
  /** The folder in which the tool works, relative to the template's path. */
  readonly workingDirectory?: string;
}

interface SettingSources {
  readonly fileName?: string;
  readonly terragruntTfBinary?: (typeof terragruntTfBinaries)[number];
  readonly isTerragruntRunAll?: boolean;
  readonly terraformVersion?: string;
  readonly opentofuVersion?: string;
  /** Of the environment. */
  readonly workingDirectory?: string;
}

/** Those that runs of a tool read; other tools have none. */
const settingsOf: Partial<Record<TemplateType, readonly (keyof SettingSources)[]>> = {
  cloudformation: ['fileName'],
  terragrunt: [
    'terragruntTfBinary',
    'isTerragruntRunAll',
    'terraformVersion',
    'opentofuVersion',
    'workingDirectory',
  ],
};

/** Settings that runs of the tool read; null: none. */
export function runSettings(tool: TemplateType, sources: SettingSources): RunSettings | null {
  const set = (settingsOf[tool] ?? []).filter((name) => sources[name]);
  return set.length === 0 ? null : Object.fromEntries(set.map((name) => [name, sources[name]]));
}

/**
 * Whether a run works on several units, each with outputs of its own: their names are then `<unit>.<output>`, with
 * the unit's path, and the last `.` separates.
 */
export function hasUnits(settings: RunSettings | null): boolean {
  return settings?.isTerragruntRunAll === true;
}

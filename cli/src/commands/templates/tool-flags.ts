/** Options that only some tools have: of templates, and of environments without one. */
import type { Command } from 'commander';
import type { TemplateRequest } from '#contract/templates/template-body.ts';
import { optionOf } from '../../terminal/suggest.ts';

const binaries = ['opentofu', 'terraform'] as const;

export interface ToolFlags {
  readonly fileName?: string;
  readonly helmChart?: string;
  readonly terragruntBinary?: (typeof binaries)[number];
  readonly terragruntBinaryVersion?: string;
  readonly runAll?: boolean;
}

export const toolFlagNames = [
  'fileName',
  'helmChart',
  'terragruntBinary',
  'terragruntBinaryVersion',
  'runAll',
] as const satisfies readonly (keyof ToolFlags)[];

export function withToolFlags(command: Command): Command {
  return command
    .option('--file-name <file>', 'file of the stack (cloudformation)')
    .option('--helm-chart <name>', 'chart, if the repository is a Helm repository')
    .addOption(optionOf('--terragrunt-binary <tool>', 'what terragrunt runs (default: opentofu)', binaries))
    .option('--terragrunt-binary-version <version>', 'version of what terragrunt runs')
    .option('--run-all', 'terragrunt runs all units below its folder')
    .option('--no-run-all', 'terragrunt runs the unit in its folder');
}

/**
 * The fields of the flags; those that were not specified are absent, and an empty text clears a setting.
 * @param before what terragrunt runs so far
 */
export function toolFields(
  { fileName, helmChart, terragruntBinary, terragruntBinaryVersion, runAll }: ToolFlags,
  before: TemplateRequest['terragruntTfBinary'] = binaries[0],
): Partial<Omit<TemplateRequest, 'type'>> {
  return {
    ...(fileName === undefined ? {} : { fileName }),
    ...(helmChart === undefined ? {} : { helmChartName: helmChart, isHelmRepository: helmChart !== '' }),
    ...(terragruntBinary === undefined ? {} : { terragruntTfBinary: terragruntBinary }),
    ...(terragruntBinaryVersion === undefined
      ? {}
      : { [`${terragruntBinary ?? before}Version`]: terragruntBinaryVersion }),
    ...(runAll === undefined ? {} : { isTerragruntRunAll: runAll }),
  };
}

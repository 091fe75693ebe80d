/** The options of the command line for where code comes from and which tool runs it. */
import { type SourceValues, versionsOf } from './source-values.ts';

/** @returns options with their values, those that are empty left out */
export function sourceWords(source: SourceValues): string[] {
  const { type, repository, revision, path, tokenId, sshKeyId, fileName, isHelmRepository, helmChartName } =
    source;
  const [versionField] = versionsOf(source);
  const flags: readonly (readonly [string, string])[] = [
    ['--type', type],
    ['--repository', repository],
    ['--revision', revision],
    ['--path', path],
    ['--tool-version', versionField === undefined ? '' : source[versionField]],
    ['--git-token', tokenId],
    ['--ssh-key', sshKeyId],
    ['--file-name', type === 'cloudformation' ? fileName : ''],
    ['--helm-chart', type === 'helm' && isHelmRepository ? helmChartName : ''],
    ['--terragrunt-binary', type === 'terragrunt' ? source.terragruntTfBinary : ''],
  ];
  const words = flags.flatMap(([flag, value]) => (value.trim() === '' ? [] : [flag, value.trim()]));
  return type === 'terragrunt' && source.isTerragruntRunAll ? [...words, '--run-all'] : words;
}

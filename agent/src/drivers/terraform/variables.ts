import type { Job } from '#protocol/messages/job.ts';
import type { FileToWrite } from '../interface/driver.ts';
import { byBytes } from './code/files.ts';
import { variableTexts } from './variable-texts.ts';

const ending = 'envarium.auto.tfvars.json';

/**
 * The name of the file with the environment's variables. The tools load all `*.auto.tfvars` and
 * `*.auto.tfvars.json` in the order of their names, and the last one takes precedence: this name is the last
 * one, whatever the repository contains.
 * @param names of the files in the configuration's folder, possibly including the one of an earlier phase
 */
function variablesFileName(names: readonly string[]): string {
  const last = names
    .filter((name) => /\.auto\.tfvars(\.json)?$/.test(name))
    .sort(byBytes)
    .at(-1);
  if (last === undefined || byBytes(last, ending) <= 0) return ending;
  // The one of an earlier phase, or one of the repository that imitates it, which is replaced.
  if (last.endsWith(`~_${ending}`)) return last;
  // `~` sorts after the `.` of the other name's ending.
  return `${last.replace(/\.auto\.tfvars(\.json)?$/, '')}~_${ending}`;
}

/**
 * The file with the terraform variables. Terraform reads strings in it literally, including `${` and `%{`
 * (tested with 1.11.4), and JSON values are written unchanged, so that no digit is lost.
 * @param names of the files in the configuration's folder
 * @returns null if there are no variables
 * @throws an Error that names the variable whose value does not match its format
 */
export async function variablesFile(
  job: Pick<Job, 'variables'>,
  names: readonly string[] = [],
): Promise<FileToWrite | null> {
  const variables = job.variables.terraform;
  if (variables.length === 0) return null;
  const texts = await variableTexts(variables);
  const lines = [...texts].map(([name, text]) => `  ${JSON.stringify(name)}: ${text}`);
  return { name: variablesFileName(names), content: `{\n${lines.join(',\n')}\n}\n`, isSecret: true };
}

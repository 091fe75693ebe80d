/**
 * The environment variables of a run as files in the configuration's folder, for scripts and code that read them
 * there. They contain secrets, so they are treated like the file of terraform variables: readable by the run only,
 * and left out of what is stored with a plan. They contain no tokens, which are valid beyond the run.
 */
import type { Job } from '#protocol/messages/job.ts';
import { runEnvironment } from '#protocol/run-environment.ts';
import { runVariableNames } from '#protocol/tools/inputs/run-variables.ts';
import type { FileToWrite } from '../../drivers/interface/driver.ts';

/** Credentials beyond the run: commands find them in their environment. */
const tokens = ['ENVARIUM_OIDC_TOKEN', 'ENVARIUM_VCS_ACCESS_TOKEN'];

/** Known only once a plan is approved: an apply must find the files of its plan. */
function isLater(name: string): boolean {
  return name.startsWith('ENVARIUM_REVIEWER_');
}

function jsonFile(name: string, values: Readonly<Record<string, string>>): FileToWrite {
  return { name, content: `${JSON.stringify(values, null, 2)}\n`, isSecret: true };
}

/** The same in all phases of a deployment. @returns none if a variable of the run asks for that */
export function variableFiles(job: Pick<Job, 'variables' | 'systemVariables'>): FileToWrite[] {
  const environment = runEnvironment(job);
  if (environment[runVariableNames.writesVariables] === 'false') return [];
  const own: Record<string, string> = Object.create(null);
  for (const { name } of job.variables.environment)
    if (!Object.hasOwn(job.systemVariables, name)) own[name] = environment[name] ?? '';
  const system = Object.entries(job.systemVariables)
    .filter(([name]) => !tokens.includes(name))
    .map(([name, value]) => [name, isLater(name) ? '' : value] as const);
  return [
    jsonFile('envarium.env-vars.json', own),
    jsonFile('envarium.system-env-vars.json', Object.fromEntries(system)),
  ];
}

/** Fields of an environment in the discovery file, and the values that they accept. */
import { fileRefusal, normalizePath, revisionRefusal } from '#guards/source-guards.ts';
import { nextRun, utc } from '../../../runs/schedules/cron.ts';
import { deployGlobFor } from '../matching/deploy-glob.ts';
import { globProblem } from '../matching/glob-problem.ts';

/** Values under the names that `FileEnvironment` has for them, or why they cannot be used. */
export type FieldResult = Readonly<Record<string, unknown>> | string;

type FieldRule = (name: string, value: unknown) => FieldResult;

const longestTitle = 255;
const workspaceName = /^[A-Za-z0-9_][A-Za-z0-9._~$&+=:@-]{0,89}$/;
const mostVariableFiles = 20;

/** @returns why a value is not a text of one line; null if it is one */
export function textProblem(name: string, value: unknown): string | null {
  if (typeof value === 'number' || typeof value === 'boolean')
    return `${name} must be text: write it in quotes`;
  if (typeof value !== 'string') return `${name} must be text`;
  if (value.trim() === '') return `${name} must not be blank`;
  if (/\p{Cc}/u.test(value)) return `${name} must not contain line breaks or other control characters`;
  return value.length > longestTitle ? `${name} must not have more than ${longestTitle} characters` : null;
}

function text(refusalOf: (value: string) => string | null = () => null): FieldRule {
  return (name, value) => {
    const problem = textProblem(name, value) ?? refusalOf(value as string);
    return problem ?? { [name]: value };
  };
}

const flag: FieldRule = (name, value) =>
  typeof value === 'boolean' ? { [name]: value } : `${name} must be true or false`;

const projectName: FieldRule = (name, value) => {
  const problem = textProblem(name, value);
  if (problem !== null) return problem;
  const projectNames = (value as string).split('|').map((each) => each.trim());
  return projectNames.includes('')
    ? `${name} has an empty part: write the projects from the outermost to the innermost, as in "a|b|c"`
    : { projectNames };
};

function variableFileProblem(entry: unknown): string | null {
  const form = 'each entry of variableFiles must be a path: to a file, as in "- path: prod.tfvars"';
  if (!(entry instanceof Map) || [...entry.keys()].join() !== 'path') return form;
  const path: unknown = entry.get('path');
  const problem = textProblem('path in variableFiles', path) ?? fileRefusal(path as string);
  if (problem !== null) return problem;
  return /\.tfvars(?:\.json)?$/.test(path as string)
    ? null
    : `path ${path as string} in variableFiles must end with .tfvars or .tfvars.json`;
}

const variableFiles: FieldRule = (name, value) => {
  if (!Array.isArray(value)) return `${name} must be a list of files`;
  if (value.length > mostVariableFiles) return `${name} must not have more than ${mostVariableFiles} files`;
  const problem = value.map(variableFileProblem).find((each) => each !== null);
  return (
    problem ?? {
      [name]: value.map((entry: ReadonlyMap<string, string>) => normalizePath(entry.get('path') ?? '')),
    }
  );
};

function cronRefusal(cron: string): string | null {
  try {
    return nextRun({ cron, timeZone: utc }, new Date()) === null ? 'driftDetectionCron never comes' : null;
  } catch (error) {
    return `driftDetectionCron is not a valid cron expression: ${(error as Error).message}`;
  }
}

function customGlobRefusal(glob: string): string | null {
  const problem = globProblem(deployGlobFor(glob, 'folder'));
  return problem === null ? null : `autoDeployByCustomGlob ${problem}`;
}

const fieldRules: Readonly<Record<string, FieldRule>> = {
  name: text(),
  templateId: text(),
  templateName: text(),
  projectId: text(),
  projectName,
  workspaceName: text((value) =>
    workspaceName.test(value)
      ? null
      : 'workspaceName must have at most 90 letters, digits and . _ ~ $ & + = : @ -, and begin with a letter, a digit or _',
  ),
  revision: text(revisionRefusal),
  variableFiles,
  requiresApproval: flag,
  isRemoteBackend: flag,
  continuousDeployment: flag,
  autoDeployOnPathChangesOnly: flag,
  autoDeployByCustomGlob: text(customGlobRefusal),
  pullRequestPlanDeployments: flag,
  vcsPrCommentsEnabled: flag,
  vcsCommandsAlias: text(),
  driftDetectionCron: text(cronRefusal),
};

/** @returns what a field of the file stands for, or its problem */
export function readField(name: string, value: unknown): FieldResult {
  const rule = Object.hasOwn(fieldRules, name) ? fieldRules[name] : undefined;
  return rule === undefined
    ? `${name} is not a field of an environment: use one of ${Object.keys(fieldRules).join(', ')}`
    : rule(name, value);
}

/** @returns what is missing or excludes each other among the fields that an environment has */
export function fieldsProblem(has: (name: string) => boolean): string | null {
  if (!has('name')) return 'name is required';
  for (const [one, other] of [
    ['templateId', 'templateName'],
    ['projectId', 'projectName'],
  ] as const) {
    if (has(one) && has(other)) return `${one} and ${other} exclude each other: keep one of them`;
    if (!has(one) && !has(other)) return `${one} or ${other} is required`;
  }
  return null;
}

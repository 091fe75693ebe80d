/** The request of a run, from its job. */
import { parseExactly } from '#contract/schema/exact-json.ts';
import type { Job, JobVariable } from '#protocol/messages/job.ts';
import { runEnvironment } from '#protocol/run-environment.ts';
import { stackOptions } from '#protocol/tools/cloudformation/arguments.ts';
import {
  readStackVariables,
  type StackVariables,
  stackVariableNames,
} from '#protocol/tools/cloudformation/variables.ts';
import { planOnlyTypes } from '#protocol/tools/steps.ts';
import { variableTexts } from '../terraform/variable-texts.ts';
import { environmentTag, type StackRequest, type Upload } from './stacks/api/reports.ts';

/** A parameter's value as AWS takes it: lists are separated by commas. */
function parameterText(json: string): string {
  const value = parseExactly(json);
  if (typeof value === 'string') return value;
  if (!Array.isArray(value)) return json;
  return value.map((entry) => (typeof entry === 'string' ? entry : JSON.stringify(entry))).join(',');
}

/** `ENVARIUM_CF_PARAM_…` overrides variables of type 1. */
async function parametersOf(job: Job): Promise<Record<string, string>> {
  const found: Record<string, string> = Object.create(null);
  for (const [name, json] of await variableTexts(job.variables.terraform)) found[name] = parameterText(json);
  const { parameterPrefix } = stackVariableNames;
  for (const [name, value] of Object.entries(runEnvironment(job)))
    if (name.startsWith(parameterPrefix)) found[name.slice(parameterPrefix.length)] = value;
  return found;
}

/** Of all that the log of a run masks, what the run gets anyway: its tools and tasks can read the request. */
function ownSecrets(job: Job): string[] {
  const environment = runEnvironment(job);
  const values = [
    ...job.variables.environment.filter(isSecret).map(({ name }) => environment[name] ?? ''),
    ...job.variables.terraform.filter(isSecret).map(({ value }) => value),
  ];
  return [...new Set(values)].filter((value) => value !== '');
}

function isSecret({ isSensitive, reference }: JobVariable): boolean {
  return isSensitive || reference !== undefined;
}

function uploadOf(
  { bucket, bucketPrefix }: StackVariables,
  options: ReturnType<typeof stackOptions>,
): Upload | null {
  const name = options['s3-bucket']?.[0] ?? bucket;
  const prefix = options['s3-prefix']?.[0]?.replaceAll(/^\/+|\/+$/g, '');
  if (name === null) return null;
  return {
    bucket: name,
    prefix: prefix === undefined ? bucketPrefix : prefix === '' ? '' : `${prefix}/`,
    kmsKeyId: options['kms-key-id']?.[0] ?? null,
  };
}

function tagsOf(texts: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    texts.map((text) => [text.slice(0, text.indexOf('=')), text.slice(text.indexOf('=') + 1)]),
  );
}

/** @throws Error that names the variable whose value does not match its format */
export async function requestOf(job: Job): Promise<StackRequest> {
  const environment = runEnvironment(job);
  const variables = readStackVariables(environment);
  const deploying = stackOptions(environment, 'deploy');
  const deleting = stackOptions(environment, 'delete');
  const options = job.type === 'destroy' ? deleting : deploying;
  return {
    stackName: job.workspaceName,
    environmentId: job.environmentId,
    deploymentId: job.deploymentId,
    isPlanOnly: planOnlyTypes.includes(job.type),
    templateFile: job.settings?.fileName || null,
    parametersFile: variables.parametersFile,
    parameters: await parametersOf(job),
    secrets: ownSecrets(job),
    capabilities: [...new Set([...variables.capabilities, ...(deploying.capabilities ?? [])])],
    tags: { ...tagsOf(deploying.tags ?? []), [environmentTag]: job.environmentId },
    roleArn: options['role-arn']?.[0] ?? null,
    notificationArns: deploying['notification-arns'] ?? [],
    disablesRollback: deploying['disable-rollback'] !== undefined,
    upload: uploadOf(variables, deploying),
    continuesRollback: variables.continuesRollback,
    revertsDrift: variables.revertsDrift,
    retained: deleting['retain-resources'] ?? [],
  };
}

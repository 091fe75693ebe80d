/** The template of a stack: where it is, what it declares, and how AWS gets it. */
import { existsSync } from 'node:fs';
import { normalize } from 'node:path';
import { GetTemplateSummaryCommand, type GetTemplateSummaryOutput } from '@aws-sdk/client-cloudformation';
import { stackVariableNames } from '#protocol/tools/cloudformation/variables.ts';
import { declaredVariables } from '#protocol/tools/declared-variables.ts';
import { type Api, StackProblem } from './api/api.ts';
import { readCode } from './api/code-files.ts';
import { tell } from './api/tell.ts';
import { type Artifact, packageTemplate, templateName } from './artifacts/package-template.ts';
import type { Uploads } from './uploads.ts';

/** Of a template in a request. */
const bodyBytes = 51_200;

/** Form in which a template is sent to AWS. */
export type TemplateSource = { readonly TemplateBody: string } | { readonly TemplateURL: string };

function usualFiles(): readonly string[] {
  const declared = declaredVariables.cloudformation;
  return declared?.form === 'stack parameters' ? declared.files : [];
}

/** @throws StackProblem if there is none */
function templateFile({ request }: Pick<Api, 'request'>): string {
  const wanted = request.templateFile;
  const found = wanted === null ? usualFiles().find((name) => existsSync(name)) : wanted;
  if (found === undefined)
    throw new StackProblem(
      `the folder contains none of ${usualFiles().join(', ')}: set fileName to the file of the template`,
    );
  return found;
}

export interface StackTemplate {
  readonly file: string;
  readonly source: TemplateSource;
}

/**
 * The template as AWS gets it: in the request, or by its address if it is too large. What it names of the repository
 * is in the bucket then, or only named by its future address if nothing is planned.
 * @param purpose `check`: only what the request for the check needs is uploaded
 * @throws StackProblem if it cannot be
 */
export async function placeTemplate(
  api: Pick<Api, 'request'>,
  uploads: Uploads,
  purpose: 'check' | 'plan',
): Promise<StackTemplate> {
  const file = templateFile(api);
  const code = readCode(file);
  if (code === null)
    throw new StackProblem(`fileName: there is no file ${file} in the folder of the configuration`);
  const { text, artifacts } = await packageTemplate(code, normalize(file), uploads);
  if (purpose === 'plan') await uploadArtifacts(api, uploads, artifacts);
  const content = Buffer.from(text);
  if (content.length <= bodyBytes) return { file, source: { TemplateBody: text } };
  const why = `${file} has ${content.length} bytes, and requests take templates of at most ${bodyBytes}`;
  const place = uploads.placeOf(templateName(content), why);
  await uploads.put(place, content, { what: 'the template', afterwards: 'removed' });
  return { file, source: { TemplateURL: await uploads.addressOf(place) } };
}

/** Plans without an apply need no code in the bucket, where it would stay. */
async function uploadArtifacts(
  { request }: Pick<Api, 'request'>,
  uploads: Uploads,
  artifacts: readonly Artifact[],
): Promise<void> {
  const wanted = artifacts.filter(({ isForPlan }) => isForPlan || !request.isPlanOnly);
  for (const { target, what, content } of wanted) {
    await uploads.put(target, await content(), { what, afterwards: 'kept' });
    tell(`Uploaded ${what} to s3://${target.bucket}/${target.key}.`);
  }
}

/** Declarations of a template. @throws StackProblem if it does not validate */
export async function summaryOf(
  { client }: Pick<Api, 'client'>,
  { file, source }: StackTemplate,
): Promise<GetTemplateSummaryOutput> {
  try {
    return await client.send(new GetTemplateSummaryCommand(source));
  } catch (error) {
    if ((error as Error).name !== 'ValidationError') throw error;
    throw new StackProblem(`${file} does not validate: ${(error as Error).message}`, { cause: error });
  }
}

/** @throws StackProblem that names the capabilities that the template needs and that are not allowed */
export function checkCapabilities(
  summary: GetTemplateSummaryOutput,
  { request }: Pick<Api, 'request'>,
): void {
  const needed: string[] = [...(summary.Capabilities ?? [])];
  const allowed = new Set(request.capabilities);
  // The wider one includes the other.
  if (allowed.has('CAPABILITY_NAMED_IAM')) allowed.add('CAPABILITY_IAM');
  const missing = needed.filter((capability) => !allowed.has(capability));
  if (missing.length === 0) return;
  throw new StackProblem(
    `the template needs ${missing.join(' and ')}${summary.CapabilitiesReason ? ` (${summary.CapabilitiesReason})` : ''}: ` +
      `set ${stackVariableNames.capabilities} to ${needed.join(',')} to allow it`,
  );
}

/** The template of a stack: where it is, what it declares, and how AWS gets it. */
import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { GetTemplateSummaryCommand, type GetTemplateSummaryOutput } from '@aws-sdk/client-cloudformation';
import { type Document, isScalar, parseDocument } from 'yaml';
import { withNumbers } from '#contract/schema/exact-json.ts';
import { isRecord, recordOf } from '#contract/schema/is-record.ts';
import { declaredVariables } from '#protocol/tools/declared-variables.ts';
import { stackVariableNames } from '#protocol/tools/cloudformation/variables.ts';
import { type Api, StackProblem } from './api.ts';
import { readCode } from './code-files.ts';
import type { Uploads } from './uploads.ts';

/** Of a template in a request. */
const bodyBytes = 51_200;
const deepest = 5;

/** How a template is given to AWS. */
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

function isJson(text: string): boolean {
  return /^\s*\{/.test(text);
}

/** YAML with the tags of CloudFormation, such as `!Ref`, which stay as they are. JSON is YAML, too. */
function documentOf(text: string, file: string): Document {
  const document = parseDocument(text, { logLevel: 'silent', schema: 'yaml-1.1', intAsBigInt: true });
  const [error] = document.errors;
  if (error !== undefined) throw new StackProblem(`${file} cannot be read: ${error.message}`);
  return document;
}

/** Nested stacks whose template is a file: their logical ids and paths. */
function localTemplates(document: Document): { readonly id: string; readonly path: string }[] {
  const resources = recordOf(recordOf(document.toJS())['Resources']);
  return Object.entries(resources).flatMap(([id, resource]) => {
    if (!isRecord(resource) || resource['Type'] !== 'AWS::CloudFormation::Stack') return [];
    const url = document.getIn(['Resources', id, 'Properties', 'TemplateURL'], true);
    if (!isScalar(url) || typeof url.value !== 'string' || url.tag?.startsWith('!') === true) return [];
    return /^https?:\/\//.test(url.value) ? [] : [{ id, path: url.value }];
  });
}

/** A template in which files of nested stacks are replaced by addresses of their uploads. */
async function packaged(
  text: string,
  file: string,
  uploads: Uploads,
  within: readonly string[],
): Promise<string> {
  const document = documentOf(text, file);
  const local = localTemplates(document);
  if (local.length === 0) return text;
  if (within.includes(file) || within.length >= deepest)
    throw new StackProblem(
      `${[...within, file].join(' → ')}: nested stacks contain each other, or are nested too deeply`,
    );
  for (const { id, path } of local) {
    const nested = normalize(join(dirname(file), path));
    if (nested.startsWith('..') || path.startsWith('/'))
      throw new StackProblem(
        `${id} in ${file}: TemplateURL must be the address of a template, or a file below the folder of the configuration`,
      );
    const code = readCode(nested);
    if (code === null)
      throw new StackProblem(`${id} in ${file}: there is no file ${nested} for its TemplateURL`);
    const content = await packaged(code, nested, uploads, [...within, file]);
    document.setIn(
      ['Resources', id, 'Properties', 'TemplateURL'],
      await uploads.put(content, `${id} in ${file} has a file as TemplateURL`, 'kept'),
    );
  }
  return isJson(text) ? JSON.stringify(withNumbers(document.toJS()), null, 2) : document.toString();
}

export interface Template {
  readonly file: string;
  readonly source: TemplateSource;
}

/**
 * The template as AWS gets it: in the request, or by its address if it is too large.
 * @throws StackProblem if it cannot be
 */
export async function placeTemplate(api: Pick<Api, 'request'>, uploads: Uploads): Promise<Template> {
  const file = templateFile(api);
  const code = readCode(file);
  if (code === null)
    throw new StackProblem(`fileName: there is no file ${file} in the folder of the configuration`);
  const text = await packaged(code, file, uploads, []);
  const bytes = Buffer.byteLength(text);
  if (bytes <= bodyBytes) return { file, source: { TemplateBody: text } };
  const why = `${file} has ${bytes} bytes, and requests take templates of at most ${bodyBytes}`;
  return { file, source: { TemplateURL: await uploads.put(text, why, 'removed') } };
}

/** What a template declares. @throws StackProblem if it does not validate */
export async function summaryOf(
  { client }: Pick<Api, 'client'>,
  { file, source }: Template,
): Promise<GetTemplateSummaryOutput> {
  try {
    return await client.send(new GetTemplateSummaryCommand(source));
  } catch (error) {
    if ((error as Error).name !== 'ValidationError') throw error;
    throw new StackProblem(`${file} does not validate: ${(error as Error).message}`, { cause: error });
  }
}

/** @throws StackProblem that names what the template needs and nobody has allowed */
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

/**
 * Terragrunt's files as data, as far as our parser reads them. Terragrunt is the judge of its own code: what only our
 * parser cannot read ends no run, and the caller decides from the text instead.
 */

import { isRecord } from '#contract/schema/is-record.ts';
import type { HclAnswer, HclFile } from '#guards/hcl/hcl-answer.ts';
import { tryParseHcl } from '../terraform/code/hcl.ts';

/** A file that our parser cannot read. */
export class UnreadableFile {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type TerragruntFile = Readonly<Record<string, unknown>> | UnreadableFile;

/** Terragrunt accepts one `include` without a label next to labelled ones; our parser accepts only one of the two. */
function withLabels(text: string): string {
  return text.replaceAll(/^([ \t]*include)([ \t]*\{)/gm, '$1 ""$2');
}

function parseJson(text: string): TerragruntFile {
  try {
    const body: unknown = JSON.parse(text);
    return isRecord(body) ? body : {};
  } catch {
    return new UnreadableFile(text);
  }
}

function parsedOf(text: string, answer: HclAnswer | undefined): TerragruntFile {
  if (answer === undefined || answer.error !== undefined) return new UnreadableFile(text);
  return answer.body;
}

/** Parses files, HCL or JSON by their names; the bodies are in the order of the files. */
export async function parseTerragruntFiles(files: readonly HclFile[]): Promise<TerragruntFile[]> {
  const hcl = files.filter(({ name }) => !name.endsWith('.json'));
  const answers = await tryParseHcl(hcl.map(({ name, text }) => ({ name, text: withLabels(text) })));
  return files.map((file) =>
    file.name.endsWith('.json') ? parseJson(file.text) : parsedOf(file.text, answers[hcl.indexOf(file)]),
  );
}

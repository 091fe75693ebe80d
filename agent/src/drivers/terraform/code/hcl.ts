import { constantOfBody } from '#guards/hcl/constant-value.ts';
import { fileOfExpression } from '#guards/hcl/expression.ts';
import { type HclAnswer, type HclFile, type HclMessage, readHclMessage } from '#guards/hcl/hcl-answer.ts';
import { checkHclLimits, hclThreadLimits } from '#guards/hcl/hcl-limits.ts';
import { LimitedThread, ThreadFailure } from '#guards/threads/limited-thread.ts';
import { ownProgram, type ProgramRole } from '../../../own/own-program.ts';

type HclParser = LimitedThread<HclFile, HclMessage>;

/** It starts with the first file. */
function openParser(): HclParser {
  return new LimitedThread({
    program: ownProgram,
    argv: ['hcl-worker' satisfies ProgramRole],
    ...hclThreadLimits,
  });
}

async function parseFile(thread: HclParser, file: HclFile): Promise<HclAnswer> {
  try {
    checkHclLimits(file.text);
    return readHclMessage(await thread.ask(file));
  } catch (error) {
    throw new Error(`${file.name}: the HCL cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

/**
 * Parses HCL into JSON, in a thread with limits. Expressions that are not constants become texts such as
 * `${var.a}`; blocks become arrays.
 * @returns one answer per file, in order: its body, or the parser's message with file, line and column
 * @throws an Error that names the file that exceeds a limit
 */
export async function parseHcl(files: readonly HclFile[]): Promise<HclAnswer[]> {
  await using thread = openParser();
  const answers: HclAnswer[] = [];
  for (const file of files) answers.push(await parseFile(thread, file));
  return answers;
}

/** The same, with an error in the place of a file that exceeds a limit. */
export async function tryParseHcl(files: readonly HclFile[]): Promise<HclAnswer[]> {
  await using thread = openParser();
  const answers: HclAnswer[] = [];
  for (const file of files)
    answers.push(await parseFile(thread, file).catch((error: Error) => ({ error: error.message })));
  return answers;
}

/** The text of an expression, with a name for error messages. */
export interface HclExpression extends HclFile {
  /** Then messages repeat no part of it. */
  readonly isSecret?: boolean;
}

async function readConstant(thread: HclParser, { name, text }: HclFile): Promise<unknown> {
  const answer = await parseFile(thread, { name, text: fileOfExpression(text) });
  if (answer.error !== undefined)
    throw new Error(`${name}: its HCL value does not parse: ${withoutPlaces(answer.error)}`);
  try {
    return constantOfBody(answer.body);
  } catch (error) {
    throw new Error(`${name}: ${(error as Error).message}`, { cause: error });
  }
}

/**
 * Reads constant HCL expressions, such as the values of variables.
 * @throws an Error that names the expression that is not a constant or cannot be parsed
 */
export async function constantsOfHcl(expressions: readonly HclExpression[]): Promise<unknown[]> {
  await using thread = openParser();
  const constants: unknown[] = [];
  for (const expression of expressions) {
    const constant = readConstant(thread, expression);
    constants.push(
      await (expression.isSecret === true
        ? constant.catch(() => {
            throw new Error(`${expression.name}: the secret that it refers to is not valid HCL`);
          })
        : constant),
    );
  }
  return constants;
}

/** Texts in double quotes, of a value that the parser does not read. */
function quotedTexts(text: string): Record<string, unknown> {
  // Unclosed tokens end with their line, so that each line is read only once.
  const quoted = text.matchAll(/"((?:[^"\\\n]|\\[^\n])*)(?:"|\\?(?:\n|$))/g);
  return { quoted: [...quoted].map(([, each]) => each) };
}

/**
 * Bodies of HCL expressions. Expressions inside that are not constants are texts; of what does not parse, or exceeds
 * the parser's limits, the quoted texts are found.
 * @throws ThreadFailure if the parser does not answer
 */
export async function readableBodies(expressions: readonly string[]): Promise<Record<string, unknown>[]> {
  await using thread = openParser();
  const bodies: Record<string, unknown>[] = [];
  for (const text of expressions) {
    const answer = await parseFile(thread, { name: 'value', text: fileOfExpression(text) }).catch(
      ({ cause }: Error) => {
        if (cause instanceof ThreadFailure) throw cause;
        return null;
      },
    );
    bodies.push(answer === null || answer.error !== undefined ? quotedTexts(text) : answer.body);
  }
  return bodies;
}

/** Removes the parser's quotes of the value, which may be secret, from its message. */
function withoutPlaces(error: string): string {
  const summaries = [...error.matchAll(/:\d+,\d+-(?:\d+,)?\d+: ([^;\]"]+)/g)].map((match) => match[1]);
  return summaries.length > 0 ? summaries.join(', ') : 'it is not an expression';
}

import { Worker } from 'node:worker_threads';
import type { HclAnswer, HclFile } from '#guards/hcl/answer-parent.ts';
import { ownProgram, type Role } from '../../own-program.ts';

const longestCharacters = 4_000_000;
const timeLimitMilliseconds = 20_000;

/**
 * Parses HCL into JSON, in a thread with a time limit. Expressions that are not constants become texts such
 * as `${var.a}`; blocks become arrays.
 * @returns one answer per file, in order: its body, or the parser's message with file, line and column
 * @throws an Error if a file has more than 4,000,000 characters or the parser takes more than 20 s
 */
export async function parseHcl(files: readonly HclFile[]): Promise<HclAnswer[]> {
  if (files.length === 0) return [];
  for (const { name, text } of files) {
    if (text.length > longestCharacters)
      throw new Error(
        `${name}: ${text.length} characters of HCL exceed the limit of ${longestCharacters}; make it smaller or use JSON`,
      );
  }
  const worker = new Worker(ownProgram, {
    argv: ['hcl-worker' satisfies Role],
    workerData: files,
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: 512 },
  });
  const { promise, resolve, reject } = Promise.withResolvers<HclAnswer[]>();
  worker.once('message', resolve);
  worker.once('error', reject);
  worker.once('exit', () => reject(new Error('the HCL parser ended without an answer')));
  const timer = setTimeout(
    () =>
      reject(
        new Error(
          `${files.map((file) => file.name).join(', ')}: parsing takes more than ${timeLimitMilliseconds / 1000} s`,
        ),
      ),
    timeLimitMilliseconds,
  );
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    await worker.terminate();
  }
}

function isConstant(text: string): boolean {
  return !/[$%]\{/.test(text.replaceAll(/\$\$\{|%%\{/g, ''));
}

function unescapeTemplate(text: string): string {
  return text.replaceAll('$${', () => '${').replaceAll('%%{', '%{');
}

function constantValue(value: unknown): unknown {
  if (typeof value === 'string') {
    if (!isConstant(value))
      throw new Error('an HCL value must be a constant: no references, functions or parentheses');
    return unescapeTemplate(value);
  }
  if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)) {
    throw new Error(
      'an HCL number above 9007199254740991 would lose digits: write it as text or use the format JSON',
    );
  }
  if (Array.isArray(value)) return value.map(constantValue);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [constantValue(key), constantValue(inner)]),
  );
}

/**
 * Reads constant HCL expressions, such as the values of variables.
 * @param expressions the text of each expression, with a name for error messages
 * @throws an Error that names the expression that is not a constant or cannot be parsed
 */
export async function constantsOfHcl(expressions: readonly HclFile[]): Promise<unknown[]> {
  const answers = await parseHcl(expressions.map(({ name, text }) => ({ name, text: `value = ${text}\n` })));
  return answers.map((answer, index) => {
    const { name } = expressions[index]!;
    if (answer.error !== undefined)
      throw new Error(`${name}: its HCL value does not parse: ${withoutPlaces(answer.error)}`);
    const keys = Object.keys(answer.body);
    if (keys.length !== 1 || keys[0] !== 'value')
      throw new Error(`${name}: its HCL value is more than one expression`);
    try {
      return constantValue(answer.body['value']);
    } catch (error) {
      throw new Error(`${name}: ${(error as Error).message}`, { cause: error });
    }
  });
}

/** Removes the parser's quotes of the value, which may be secret, from its message. */
function withoutPlaces(error: string): string {
  const summaries = [...error.matchAll(/:\d+,\d+-(?:\d+,)?\d+: ([^;\]"]+)/g)].map((match) => match[1]);
  return summaries.length > 0 ? summaries.join(', ') : 'it is not an expression';
}
